(function () {
  var wanted = document.querySelectorAll('figure[data-figure]'), drawn = 0;
  wanted.forEach(function (figure) {
    var picture = figure.querySelector('img');
    if (picture) { drawn += picture.complete && picture.naturalWidth > 0 ? 1 : 0; return; }
    var box = figure.querySelector('svg').getBBox();
    var marks = figure.querySelectorAll('svg .mark').length;
    drawn += box.width > 100 && box.height > 60 && marks > 0 ? 1 : 0;
  });
  document.body.dataset.figures = wanted.length;
  document.body.dataset.drawn = drawn;
  document.body.dataset.ok = String(wanted.length > 0 && drawn === wanted.length);
  var folds = document.querySelectorAll('details.fold');
  function all(open) { folds.forEach(function (fold) { fold.open = open; }); }
  function show() {
    var goal = location.hash && document.getElementById(location.hash.slice(1));
    for (var place = goal; place; place = place.parentElement) {
      if (place.tagName === 'DETAILS') { place.open = true; }
    }
    if (goal) { goal.scrollIntoView(); }
  }
  all(false);
  show();
  addEventListener('hashchange', show);
  addEventListener('beforeprint', function () { all(true); });
})();
