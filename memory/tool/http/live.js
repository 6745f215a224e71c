/* A page that stays open is renewed: its figures, and their data; what was unfolded stays so. */
(function () {
  'use strict';
  var box = document.getElementById('follow'), timer = null;

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

  box.parentNode.hidden = false;
  box.addEventListener('change', follow);
  if (location.hash === '#follow') {
    box.checked = true;
    follow();
  }
})();
