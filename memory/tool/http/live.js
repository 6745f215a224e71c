/* A page that stays open is renewed: its figures, and their data; what was unfolded stays so. */
(function () {
  'use strict';
  var box = document.getElementById('follow'), timer = null;
  var lines = null, loading = false, slow = false; // what is in #loaded, and how it got there

  // Looking up names takes longer than the rest: they are loaded apart, and not each 5 s if that
  // takes more than one.
  function load() {
    var place = document.getElementById('loaded'), began = Date.now();
    if (place && lines) { place.replaceChildren.apply(place, lines); }
    if (!place || loading || slow) { return; }
    loading = true;
    fetch(place.dataset.from).then(function (answer) {
      return answer.ok ? answer.text() : Promise.reject(answer.status);
    }).then(function (text) {
      var page = new DOMParser().parseFromString(text, 'text/html');
      lines = Array.from(page.querySelector('main').childNodes);
      slow = Date.now() - began > 1000;
      document.getElementById('loaded').replaceChildren.apply(document.getElementById('loaded'), lines);
      document.body.dataset.lines = String(document.querySelectorAll('table.lines tr').length);
    }).catch(function (why) {
      document.body.dataset.failed = String(why);
    }).finally(function () { loading = false; });
  }

  function unfolded() {
    var open = {};
    document.querySelectorAll('figure details').forEach(function (one) {
      open[one.closest('figure').id] = one.open;
    });
    return open;
  }

  function replace(text) {
    var page = new DOMParser().parseFromString(text, 'text/html'), open = unfolded();
    if (!page.querySelector('main') || !page.getElementById('data')) { return; }
    ['main', '#data', '#programs table'].forEach(function (part) {
      document.querySelector(part).replaceWith(page.querySelector(part));
    });
    document.querySelectorAll('figure details').forEach(function (one) {
      one.open = open[one.closest('figure').id] || false;
    });
    var script = document.createElement('script');
    script.src = '/page.js';
    script.onload = function () { script.remove(); };
    document.body.appendChild(script);
    load();
  }

  function renew() {
    if (document.hidden || !box.checked) { return; }
    fetch(location.pathname + location.search).then(function (answer) {
      return answer.ok ? answer.text() : Promise.reject(answer.status);
    }).then(function (text) {
      replace(text);
      document.body.dataset.renewed = String(1 + Number(document.body.dataset.renewed || 0));
    }).catch(function (why) {
      document.body.dataset.failed = String(why);
    });
  }

  function follow() {
    clearInterval(timer);
    timer = box.checked ? setInterval(renew, 5000) : null;
    renew();
  }

  load();
  box.parentNode.hidden = false;
  box.addEventListener('change', follow);
  if (location.hash === '#follow') {
    box.checked = true;
    follow();
  }
})();
