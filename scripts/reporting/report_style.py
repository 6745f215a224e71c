"""report_style.py - the style sheet and the script of the report; both stand inside the page.

Policies are in colour by check boxes before everything else and by style rules alone, so a click
works without the script. The script counts the figures that were drawn, folds what is folded at
first and opens it for the printer; without it all is open.
"""

from reporting import svg

STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#5c6570;--paper:#fff;--line:#dfe3e8;
--wash:#f5f7f9;--good:#00704f;--bad:#b23a00;--more:#d3e6f3;--less:#f8dcca;--open:#eceef0;
--accent:#0072b2;--dim:#707983;--faint:#c3c9d0;--sim:#f6f3fb;--simline:#b7a6d9}
@media screen and (prefers-color-scheme:dark){:root{--ink:#eceff2;--soft:#a7b0ba;--paper:#15181c;
--line:#353b43;--wash:#1d2126;--good:#37c79b;--bad:#ff8a3d;--more:#173a52;--less:#4a2a14;
--open:#262b31;--accent:#5aa9e6;--dim:#8b95a0;--faint:#454c54;--sim:#1b1824;--simline:#5a4b7d}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 FONT}
main{max-width:1176px;margin:0 auto;padding:16px 24px 60px}
h1{font-size:17px;margin:0;letter-spacing:-.01em;display:inline}
h2{font-size:21px;margin:44px 0 6px;border-top:2px solid var(--line);padding-top:18px}
h3{font-size:15px;margin:22px 0 8px}
header p{display:inline;color:var(--soft);margin:0 0 0 10px}
p.lead{color:var(--soft);margin:0 0 14px}
ul.says{margin:0 0 12px;padding-left:20px}ul.says:empty{display:none}ul.says li{margin:4px 0}
a{color:inherit;text-decoration-color:var(--soft)}
.cards{display:grid;grid-template-columns:minmax(0,1fr) 326px;gap:14px;margin:10px 0 14px}
.card{border:1px solid var(--line);border-radius:8px;padding:12px 16px;min-width:0}
.card.take{border-left:6px solid var(--accent)}
.card.take.unsure{border-left-color:var(--dim)}
.big{font-size:29px;line-height:1.15;font-weight:700;letter-spacing:-.02em;margin:0}
.card .why{margin:3px 0 8px;font-size:14.5px}
.card h2,.verdict h2{border:0;padding:0;margin:0}
.card.trust .grade{font-weight:700;font-size:16px;margin:0 0 6px}
.grade::before{content:'';display:inline-block;width:11px;height:11px;border-radius:50%;
margin-right:7px;background:var(--good)}
.grade.bad::before{background:var(--bad)}.grade.fair::before{background:#e69f00}
dl{display:grid;grid-template-columns:auto 1fr;gap:3px 10px;margin:0;font-size:13px}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.meter{height:6px;border-radius:3px;background:var(--open);margin:3px 0;position:relative}
.meter i{position:absolute;inset:0 auto 0 0;border-radius:3px;background:var(--good)}
.meter i.bad{background:var(--bad)}
.meter b{position:absolute;top:-2px;bottom:-2px;width:2px;background:var(--soft)}
.ifs{width:100%;font-size:13.5px}.ifs td{padding:2.5px 6px;border-bottom:1px solid var(--line);
text-align:left;vertical-align:baseline}.ifs tr:last-child td{border:0}
.ifs td:first-child{padding-left:0}.ifs b{white-space:nowrap}
.ifs .open,.ifs .open b{color:var(--dim);font-weight:400}.ifs .num{white-space:nowrap}
table{border-collapse:collapse;width:100%;font-size:13.5px;font-variant-numeric:tabular-nums}
td.met,td.missed,td.unknown{white-space:nowrap}
th,td{padding:6px 7px;border-bottom:1px solid var(--line);text-align:right;vertical-align:bottom}
th{font-weight:600;color:var(--soft);font-size:12px;white-space:pre}
th:first-child,td:first-child{text-align:left}
table.left th,table.left td{text-align:left;vertical-align:top}
td.name{font-weight:600;white-space:nowrap}
.matrix{border-collapse:separate;border-spacing:2px;font-size:13px}
.matrix th,.matrix td{padding:1px 4px 2px;border:0;text-align:center;line-height:1.2}
.matrix td{border-radius:4px;vertical-align:middle}
.matrix td.name,.matrix th:first-child{text-align:right;position:sticky;
left:0;background:var(--paper);white-space:nowrap;padding-right:8px}
.matrix small{display:block;font-size:10px;color:var(--soft);white-space:nowrap}
.matrix b{font-weight:600;white-space:nowrap}.matrix th{white-space:nowrap;font-size:11.5px;
line-height:1.25}
.matrix .more{background:var(--more)}.matrix .less{background:var(--less)}
.matrix .open{background:var(--open);color:var(--dim)}
.matrix .base{border:1px dashed var(--line)}
.matrix .lead{box-shadow:inset 0 0 0 2px var(--dim)}
.matrix .best{box-shadow:inset 0 0 0 2.5px var(--accent)}
.matrix tr.apart td{border-top:0}.matrix tr.apart:first-of-type td{padding-top:8px}
.matrix .label td{text-align:left;color:var(--soft);font-size:11.5px;padding-top:8px}
.key{display:inline-block;border-radius:3px;padding:0 5px;margin:0 1px;color:var(--ink)}
.key.more{background:var(--more)}.key.less{background:var(--less)}
.key.open{background:var(--open);color:var(--dim)}
.key.best{box-shadow:inset 0 0 0 2px var(--accent)}.key.lead{box-shadow:inset 0 0 0 2px var(--dim)}
.again,figcaption{font-size:12px;color:var(--soft);margin:4px 0 0}
.met{color:var(--good);font-weight:600}.missed{color:var(--bad);font-weight:600}
.unknown{color:var(--soft)}
.grid{display:grid;grid-template-columns:1fr 1fr;gap:22px 24px;align-items:start}
.wide{grid-column:1/-1}
figure{margin:0;break-inside:avoid;min-width:0}
figure svg,figure img{display:block;max-width:100%;height:auto}
.drawing{overflow-x:auto}
figure img{background:#fff;border:1px solid var(--line);border-radius:4px;max-height:560px}
code{font:11.5px ui-monospace,'DejaVu Sans Mono',monospace;background:var(--wash);padding:1px 4px;
border-radius:3px;overflow-wrap:anywhere}
.scroll{overflow-x:auto}
pre{font:11px ui-monospace,'DejaVu Sans Mono',monospace;overflow-x:auto;background:var(--wash)}
details{border-top:1px solid var(--line);padding:2px 0}
summary{cursor:pointer;margin:8px 0;font-weight:600}summary span{font-weight:400;
color:var(--soft)}
nav{font-size:13px;margin:8px 0 0;color:var(--soft)}nav a{margin-right:12px}
.simulated{background:var(--sim);border:2px dashed var(--simline);border-radius:8px;
padding:0 18px 14px;margin-top:44px}
.simulated h2{border:0;margin-top:0}.badge{font-size:11px;letter-spacing:.06em;font-weight:700;
border:1.5px solid var(--simline);border-radius:4px;padding:2px 7px;margin-left:8px;
vertical-align:middle}
.pick{position:absolute;opacity:0;width:1px;height:1px;pointer-events:none}
.chips{margin:8px 0 12px;font-size:12.5px;line-height:2}.chips label{display:inline-block;
border:1.5px solid var(--line);border-radius:12px;padding:0 10px;margin:0 3px;cursor:pointer;
color:var(--dim);line-height:1.65}
@media screen and (max-width:900px){.grid,.cards{grid-template-columns:1fr}
.wide svg{min-width:820px}
.drawing{margin:0 -4px}}
@media screen and (max-width:560px){main{padding:12px 12px 40px}.big{font-size:25px}
header p{display:block;
margin:0}figure svg{min-width:460px}.wide svg{min-width:820px}
.ifs tr{display:block;padding:4px 0;border-bottom:1px solid var(--line)}
.ifs td{display:inline;border:0;padding:0 5px 0 0}.ifs td:first-child{display:block}
.ifs td+td+td{padding-left:8px}.ifs .num{white-space:normal}}
@page{size:A4;margin:12mm}
@media print{body{font-size:12px;-webkit-print-color-adjust:exact;print-color-adjust:exact}
main{padding:0;max-width:none}h2,h3,summary{break-after:avoid}.chips span,nav{display:none}
.cards{grid-template-columns:minmax(0,1fr) 216px}.matrix{font-size:9.5px}
.matrix small{font-size:7px}.matrix th{font-size:8.5px;padding:1px}.matrix td{padding:1px}
.matrix td.name{position:static}
.ifs{font-size:10.5px}.ifs td{padding:2px 4px}.ifs td:first-child{white-space:nowrap}
dl{font-size:10.5px}.card.trust .grade{font-size:13px}.card .why{font-size:12px}.big{font-size:24px}
table{font-size:10px}th{font-size:9.5px}
th,td{padding:3px 4px}tr{break-inside:avoid}.grid{gap:12px 14px}.scroll,.drawing{overflow:visible}
.page{break-before:page}details.fold::details-content{content-visibility:visible;display:block;
height:auto}figure svg{width:100%}code{font-size:9px}.again,figcaption{font-size:9.5px}}
"""

SCRIPT = """
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
"""


def picked(index):
    """The rules of one policy: grey unless its box is checked."""
    name, off = f"#p{index}", f"#p{index}:not(:checked)~main .policies "
    return (f"{off}.l{index}{{stroke:var(--faint)}}{off}.f{index}{{fill:var(--faint)}}"
            f"{off}polygon.f{index}:not(.mark){{fill-opacity:.07}}"
            f"{off}text.f{index}{{fill:var(--dim)}}"
            f"{name}:checked~main .chips label[for=p{index}]{{color:var(--ink);"
            f"border-color:{svg.LIGHT[index]};box-shadow:inset 5px 0 0 {svg.LIGHT[index]}}}"
            f"{name}:focus-visible~main .chips label[for=p{index}]{{outline:2px solid "
            "var(--accent)}")


def style(indices):
    """The whole style sheet; indices: of the policies that can be picked."""
    return STYLE.replace("FONT", svg.FONT) + svg.style() + "".join(map(picked, indices))
