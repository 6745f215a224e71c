-- mariadb_load.lua - for sysbench: a transaction is a connection, one row read by its key, the end of
-- the connection.
sysbench.cmdline.options = { table_size = { "rows of the table", 10000 } }

function thread_init()
   driver = sysbench.sql.driver()
end

function event()
   local connection = driver:connect()
   connection:query("select c from sbtest1 where id = " ..
                    sysbench.rand.uniform(1, sysbench.opt.table_size))
   connection:disconnect()
end
