/* What is pointed at in a chart stands in its legend. Without this the last moment does. */
(function () {
  'use strict';
  var data = JSON.parse(document.getElementById('data').textContent);

  function amount(bytes) {
    var units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], unit = 0, size = Math.abs(bytes);
    while (size >= 999.5 && unit + 1 < units.length) { size /= 1024; unit++; }
    var digits = unit === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    return (bytes < 0 ? '-' : '') + size.toFixed(digits) + ' ' + units[unit];
  }

  function follow(chart) {
    var history = data.histories[chart.dataset.history], figure = chart.parentNode;
    var plot = chart.querySelector('.plot'), cursor = chart.querySelector('.cursor');
    var last = history.times.length - 1, shown = last;
    var first_ms = history.times_ms[0], span = history.times_ms[last] - first_ms;

    function values(key) {
      return key === 'rss' || key === 'tracked' ? history[key] : history.series[key].bytes;
    }
    function show(moment, points) {
      shown = Math.max(0, Math.min(last, moment));
      var x = span > 0 ? 1000 * (history.times_ms[shown] - first_ms) / span : 0;
      cursor.setAttribute('transform', 'translate(' + x + ' 0)');
      cursor.setAttribute('visibility', points ? 'visible' : 'hidden');
      figure.querySelector('.moment').textContent = history.times[shown];
      figure.querySelectorAll('[data-of]').forEach(function (cell) {
        cell.textContent = amount(values(cell.dataset.of)[shown]);
      });
    }
    function nearest(event) {
      var box = plot.getBoundingClientRect();
      var wanted = first_ms + span * (event.clientX - box.left) / box.width, best = 0;
      history.times_ms.forEach(function (time, i) {
        if (Math.abs(time - wanted) < Math.abs(history.times_ms[best] - wanted)) { best = i; }
      });
      show(best, true);
    }
    plot.setAttribute('tabindex', '0');
    plot.addEventListener('pointermove', nearest);
    plot.addEventListener('pointerdown', nearest);
    plot.addEventListener('pointerleave', function () { show(last, false); });
    plot.addEventListener('blur', function () { show(last, false); });
    plot.addEventListener('keydown', function (event) {
      var step = { ArrowLeft: -1, ArrowRight: 1, Home: -last, End: last }[event.key];
      if (step === undefined) { return; }
      event.preventDefault();
      show(shown + step, true);
    });
  }

  document.querySelectorAll('.chart').forEach(follow);

  /* What was drawn, for tests. */
  var wanted = document.querySelectorAll('figure[data-figure]'), drawn = 0;
  wanted.forEach(function (figure) {
    var box = figure.getBoundingClientRect();
    drawn += box.width > 100 && box.height > 20 ? 1 : 0;
  });
  document.body.dataset.figures = wanted.length;
  document.body.dataset.drawn = drawn;
  document.body.dataset.wide = String(document.documentElement.scrollWidth > window.innerWidth);
  document.body.dataset.ok = String(wanted.length > 0 && drawn === wanted.length);
})();
