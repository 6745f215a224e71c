/*
 * topology_test.c - machines and costs from text and files, and invalid texts.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "sim/timed/costs.h"
#include "sim/tests/expect_where.h"
#include "sim/timed/topology.h"

static void test_topology(void)
{
	struct pfs_topology *topology;
	struct pfs_message message;
	EXPECT(pfs_topology_create(&topology, "pack:2 numa:4 core:16 pu:2", &message) == PFS_OK,
	       "%s", message.text);
	EXPECT(topology->pu_count == 256 && topology->core_count == 128 &&
		       topology->node_count == 8 && topology->package_count == 2,
	       "counts of a machine of 8 nodes");
	EXPECT(topology->pu[33].core == 16 && topology->pu[33].node == 1 &&
		       topology->pu[33].smt_rank == 1 && topology->pu[255].package == 1,
	       "where PUs stand");
	EXPECT(topology->l3_count == 8 && topology->pu[33].l3 == 1, "an L3 for each node");
	pfs_topology_destroy(topology);
	EXPECT(pfs_topology_create(&topology, "numa:8 core:32 pu:1", &message) == PFS_OK, "%s",
	       message.text);
	EXPECT(topology->package_count == 8 && topology->pu[255].package == 7 &&
		       topology->package[7] == 7,
	       "nodes without packages are one each");
	pfs_topology_destroy(topology);
	EXPECT(pfs_topology_create(&topology, "pack:2 [numa] l3:4 l2:8 core:1 pu:2", &message) ==
		       PFS_OK,
	       "%s", message.text);
	EXPECT(topology->l3_count == 8 && topology->node_count == 2 && topology->pu[127].l3 == 7 &&
		       topology->pu[127].node == 1 && topology->pu[127].core_rank == 31,
	       "several L3 in a node");
	pfs_topology_destroy(topology);
	static const char *const bad[] = { "pack:2 cores:many", "",
					   "nosuch.xml",        "/dev/null",
					   "pu:100000",         "core:64 pu:32",
					   "pack:2 pu:",        "1024",
					   "pu:0xfffff",        "numa:0x80 core:0x80 pu:2",
					   "/dev/zero" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		message.text[0] = '\0';
		EXPECT(pfs_topology_create(&topology, bad[i], &message) == PFS_BAD_CONFIG &&
			       topology == NULL && message.text[0] != '\0' &&
			       strchr(message.text, '\n') == NULL,
		       "bad machine %s: %s", bad[i], message.text);
	}
}

static const char *write_file(const char *text)
{
	static char path[] = "timed_test.tmp";
	FILE *file = fopen(path, "w");
	if (file == NULL || fputs(text, file) == EOF || fclose(file) != 0)
		EXPECT(false, "%s can't be written", path);
	return path;
}

#define SETS(mask)                                                         \
	"cpuset=\"" mask "\" complete_cpuset=\"" mask "\" nodeset=\"" mask \
	"\" complete_nodeset=\"" mask "\" "
#define PACKAGE(index, mask, at)                                                      \
	"<object type=\"Package\" os_index=\"" index                                  \
	"\" " SETS(mask) "gp_index=\"" at "2\">\n"                                    \
			 "<object type=\"NUMANode\" os_index=\"" index                \
			 "\" " SETS(mask) "gp_index=\"" at "3\"/>\n"                  \
					  "<object type=\"PU\" os_index=\"" index     \
					  "\" " SETS(mask) "gp_index=\"" at "4\"/>\n" \
							   "</object>\n"
#define MACHINE                                                                             \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                      \
	"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"           \
	"<object type=\"Machine\" os_index=\"0\" " SETS("0x3") "allowed_cpuset=\"0x3\" "    \
							       "allowed_nodeset=\"0x3\" "   \
							       "gp_index=\"1\">\n" PACKAGE( \
								       "0", "0x1", "1")

static void test_distances(void)
{
	static const char text[] = MACHINE PACKAGE(
		"1", "0x2",
		"2") "</object>\n"
		     "<distances2 type=\"NUMANode\" nbobjs=\"2\" kind=\"5\" indexing=\"os\">\n"
		     "<indexes length=\"4\">0 1 </indexes>\n"
		     "<u64values length=\"12\">10 32 32 10 </u64values>\n"
		     "</distances2>\n</topology>\n";
	struct pfs_topology *topology;
	struct pfs_message message;
	EXPECT(pfs_topology_create(&topology, write_file(text), &message) == PFS_OK, "%s",
	       message.text);
	EXPECT(topology != NULL && topology->pu_count == 2 && topology->node_count == 2 &&
		       topology->package[1] == 1 && topology->distance != NULL &&
		       topology->distance[0] == 10 && topology->distance[1] == 32,
	       "a machine with distances");
	pfs_topology_destroy(topology);
	EXPECT(pfs_topology_create(&topology, write_file("<topology>"), &message) == PFS_BAD_CONFIG,
	       "half a file");
	(void)remove("timed_test.tmp");
}

/* Files that hwloc accepts or crashes on, but that are no machine. */
static void test_damaged(void)
{
	static const char *const texts[] = {
		/* one of two PUs in a core */
		MACHINE
		"<object type=\"Core\" os_index=\"1\" " SETS("0x2") "gp_index=\"5\">\n" PACKAGE(
			"1", "0x2", "2") "</object></object></topology>\n",
		/* a PU in a PU: none at one depth */
		MACHINE
		"<object type=\"PU\" os_index=\"1\" " SETS("0x2") "gp_index=\"5\">\n" PACKAGE(
			"1", "0x2", "2") "</object></object></topology>\n",
		/* a package without one of its sets: hwloc reads through NULL */
		MACHINE "<object type=\"Package\" os_index=\"1\" cpuset=\"0x2\" gp_index=\"5\">"
			"</object></object></topology>\n",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct pfs_topology *topology;
		struct pfs_message message = { .text = "" };
		EXPECT(pfs_topology_create(&topology, write_file(texts[i]), &message) ==
				       PFS_BAD_CONFIG &&
			       topology == NULL && message.text[0] != '\0',
		       "damaged file %zu: %s", i, message.text);
	}
	(void)remove("timed_test.tmp");
}

/* All fields, as in a file of pfs-sim calibrate. */
static void write_costs(struct pfs_costs *costs)
{
	struct pfs_json json = { .out = fopen("timed_test.tmp", "w") };
	const char *name;
	double *value;
	pfs_json_object(&json, NULL);
	pfs_json_text(&json, "name", costs->name);
	pfs_json_object(&json, "costs");
	for (size_t at = 0; pfs_costs_field(costs, at, &name, &value); at++)
		pfs_json_real(&json, name, 10, *value);
	pfs_json_end(&json);
	pfs_json_end(&json);
	(void)fclose(json.out);
}

static void test_costs(void)
{
	struct pfs_costs costs, again;
	struct pfs_message message;
	for (size_t at = 0; pfs_costs_preset(at) != NULL; at++) {
		EXPECT(pfs_costs_find(&costs, pfs_costs_preset(at), &message) == PFS_OK, "%s",
		       message.text);
		write_costs(&costs);
		EXPECT(pfs_costs_find(&again, "timed_test.tmp", &message) == PFS_OK &&
			       memcmp(&costs, &again, sizeof(costs)) == 0,
		       "written and read: %s", message.text);
	}
	EXPECT(pfs_costs_find(&costs, write_file("{ \"preset\": \"epyc\", \"l3_ns\": 12.5 }"),
			      &message) == PFS_OK &&
		       costs.l3_ns == 12.5 && costs.rmw_ns == 4.5,
	       "a file that changes a preset");
	static const char *const bad[] = { "{ \"l3\": 1 }",
					   "{ \"l3_ns\": -1 }",
					   "[]",
					   "{",
					   "{ \"jitter\": 2 }",
					   "{ \"l3_ns\": \"1\" }",
					   "{ \"preset\": \"none\" }",
					   "{ \"costs\": 1 }" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT(pfs_costs_find(&again, write_file(bad[i]), &message) == PFS_BAD_CONFIG,
		       "bad costs: %s", bad[i]);
	EXPECT(pfs_costs_find(&again, "nosuch", &message) == PFS_BAD_CONFIG, "no such preset");
	(void)remove("timed_test.tmp");
}

int main(void)
{
	test_topology();
	test_distances();
	test_damaged();
	test_costs();
	if (failures == 0)
		(void)printf("topologies and costs: all passed\n");
	return failures != 0;
}
