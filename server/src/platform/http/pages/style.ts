/**
 * The one style of all pages. Colours are chosen for a contrast of at least 4.5 to 1 on both grounds, and none is the
 * only sign of anything.
 */
export const style = `
:root{color-scheme:light dark;--ground:#f7f8f8;--card:#fff;--ink:#17201f;--soft:#55605f;--line:#dfe4e3;--hover:#f1f4f3;
--accent:#0b6b63;--accent-ink:#fff;--good:#17703c;--good-ground:#e2f4e8;--good-fill:#2f9e5b;--bad:#b3261e;--bad-ground:#fbe7e5;
--bad-fill:#d9483d;--odd:#8a5200;--odd-ground:#fdf0d5;--odd-fill:#b97c18;--busy:#1d5fa8;--busy-ground:#e4effb;--track:#e6eae9;
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace}
@media (prefers-color-scheme:dark){:root{--ground:#101414;--card:#181d1d;--ink:#e6ebea;--soft:#9fabaa;--line:#2b3332;
--hover:#1f2626;--accent:#4fc3b5;--accent-ink:#06201d;--good:#6fd396;--good-ground:#15301f;--good-fill:#3aa765;--bad:#ff9a90;
--bad-ground:#3b1b19;--bad-fill:#d9584d;--odd:#f2bd63;--odd-ground:#382a10;--odd-fill:#c98d28;--busy:#8bbdf5;--busy-ground:#172a41;--track:#2a3231}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif}
a{color:var(--accent);text-underline-offset:2px}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
h1,h2,h3,p,ul,ol,dl,dd,pre,figure{margin:0}
h1{font-size:24px;line-height:1.25;font-weight:650;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:16px;font-weight:650}
h3{font-size:14px;font-weight:650;overflow-wrap:anywhere}
code,pre,.mono{font-family:var(--mono);font-size:.88em}
.skip{position:absolute;left:-999px}
.skip:focus{left:8px;top:8px;background:var(--card);padding:8px 12px;z-index:1}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.top{display:flex;align-items:center;justify-content:space-between;gap:16px;padding:10px 24px;background:var(--card);border-bottom:1px solid var(--line)}
.mark{display:flex;align-items:center;gap:8px;color:var(--ink);font-weight:650;text-decoration:none}
.mark path{fill:none;stroke:var(--accent);stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
.who{display:flex;align-items:center;gap:12px;min-width:0}
.project{color:var(--soft);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
main{max-width:1200px;margin:0 auto;padding:24px 24px 64px;display:grid;gap:20px}
main>*{min-width:0}
.crumbs{color:var(--soft);font-size:14px;overflow-wrap:anywhere}
.crumbs a{color:inherit}
.title{display:flex;flex-wrap:wrap;align-items:center;gap:8px 12px}
.head{display:grid;gap:8px}
.facts{display:flex;flex-wrap:wrap;gap:4px 24px;font-size:14px}
.facts>div{display:flex;gap:6px;min-width:0}
.facts dt{color:var(--soft)}
.facts dd{overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:16px 20px;display:grid;gap:12px;align-content:start;min-width:0}
.card>*{min-width:0}
.pair{display:grid;gap:20px;grid-template-columns:minmax(0,3fr) minmax(0,2fr)}
.badge{display:inline-flex;align-items:center;gap:6px;padding:1px 9px;border-radius:99px;font-size:13px;font-weight:600;white-space:nowrap;background:var(--track);color:var(--ink)}
.badge.good{background:var(--good-ground);color:var(--good)}
.badge.bad{background:var(--bad-ground);color:var(--bad)}
.badge.odd{background:var(--odd-ground);color:var(--odd)}
.badge.busy{background:var(--busy-ground);color:var(--busy)}
.callout{border-radius:8px;padding:10px 14px;overflow-wrap:anywhere}
.callout.bad{background:var(--bad-ground);color:var(--bad)}
.callout.odd{background:var(--odd-ground);color:var(--odd)}
.callout strong{font-weight:650}
.tiles{display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:12px 24px}
.tile dt{color:var(--soft);font-size:14px;display:flex;align-items:center;gap:8px}
.tile dd{font-size:26px;line-height:1.3;font-weight:650;font-variant-numeric:tabular-nums;letter-spacing:-.01em}
.tile dd small{font-size:14px;font-weight:400;color:var(--soft);letter-spacing:0}
.dot{width:9px;height:9px;border-radius:3px;flex:none;background:var(--track)}
.dot.good,.legend .good{background:var(--good-fill)}.dot.bad{background:var(--bad-fill)}.dot.odd{background:var(--odd-fill)}
.bar{display:block;width:100%;height:8px;border-radius:4px;background:var(--track);overflow:hidden}
.bar.tall{height:12px;border-radius:6px}
.bar .good{fill:var(--good-fill)}.bar .bad{fill:var(--bad-fill)}.bar .odd{fill:var(--odd-fill)}.bar .busy{fill:var(--busy)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
th{text-align:left;font-weight:600;color:var(--soft);font-size:13px;white-space:nowrap}
th,td{padding:7px 12px 7px 0;border-bottom:1px solid var(--line);vertical-align:top}
th:last-child,td:last-child{padding-right:0}
tbody tr:last-child td,tbody tr:last-child th{border-bottom:0}
tbody th{color:var(--ink);font-size:14px;font-weight:500;white-space:normal;overflow-wrap:anywhere}
.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.wide{min-width:110px;width:30%;vertical-align:middle}
.sub{color:var(--soft);font-size:13px;font-weight:400}
.none{color:var(--soft)}
.tools{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:12px}
.tabs{display:flex;flex-wrap:wrap;gap:4px;list-style:none;padding:0}
.tabs a{display:flex;align-items:center;gap:7px;padding:5px 12px;border-radius:7px;color:var(--soft);text-decoration:none;font-size:14px}
.tabs a:hover{background:var(--hover);color:var(--ink)}
.tabs [aria-current]{background:var(--hover);color:var(--ink);font-weight:600}
.tabs span{font-variant-numeric:tabular-nums}
form.inline{display:flex;align-items:center;gap:8px;font-size:14px}
input{font:inherit;color:inherit;background:var(--card);border:1px solid var(--soft);border-radius:7px;padding:6px 10px;min-width:0}
::placeholder{color:var(--soft);opacity:1}
form.inline input{width:110px;padding:3px 8px}
button,.button{font:inherit;font-size:14px;color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:7px;padding:4px 12px;cursor:pointer;text-decoration:none}
button:hover,.button:hover{background:var(--hover)}
button.primary{background:var(--accent);border-color:var(--accent);color:var(--accent-ink);font-weight:600;padding:8px 14px;font-size:15px}
button.primary:hover{filter:brightness(1.08)}
.quiet{border-color:transparent;background:none;color:var(--soft)}
.pager{display:flex;justify-content:space-between;gap:12px}
.pager span{flex:1}
.rows{table-layout:fixed}
.rows .c-row{width:76px}.rows .c-outcome{width:96px}.rows .c-item{width:30%}.rows .c-criteria{width:200px}
.rows td{overflow-wrap:anywhere}
.rows tbody tr:hover td{background:var(--hover)}
.rows td:first-child,.rows th:first-child{font-variant-numeric:tabular-nums;text-align:right;padding-right:20px}
.fields{display:grid;gap:2px}
.fields div{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden}
.fields dt{display:inline;color:var(--soft);margin-right:6px}
.fields dd{display:inline}
.clamp{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:4;overflow:hidden;white-space:pre-wrap}
.reason{color:var(--odd)}
.checks{list-style:none;padding:0;display:grid;gap:2px}
.checks li{display:grid;grid-template-columns:16px minmax(0,1fr) auto;gap:4px}
.checks .good{color:var(--good)}.checks .bad{color:var(--bad)}.checks .odd{color:var(--odd)}
.compare{display:grid;gap:4px}
.compare>div{display:grid;grid-template-columns:66px minmax(0,1fr);gap:8px}
.compare dt{color:var(--soft);font-size:13px;line-height:21px}
.compare dd{overflow-wrap:anywhere}
.kept{white-space:pre-wrap}
del,ins{text-decoration-thickness:1px;text-underline-offset:3px;border-radius:3px;padding:0 1px}
del{background:var(--good-ground);color:var(--good);text-decoration-line:underline;text-decoration-style:dotted}
ins{background:var(--bad-ground);color:var(--bad);text-decoration-line:underline}
.panes{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:12px}
.pane{display:grid;gap:4px;align-content:start;min-width:0}
.pane>span,.pane>h3{font-size:13px;color:var(--soft);font-weight:600}
.text{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--ground);border:1px solid var(--line);border-radius:7px;padding:8px 12px;max-height:60vh;overflow:auto;font-size:14px;line-height:1.5}
.text,.clamp{font-family:inherit}
.clamp{font-size:14px}
.text.code{font-family:var(--mono);font-size:13px}
.criterion{display:grid;gap:10px;padding:14px 0;border-top:1px solid var(--line)}
.criterion:first-of-type{border-top:0;padding-top:0}
.criterion:last-child{padding-bottom:0}
summary{cursor:pointer;color:var(--soft);font-size:14px}
details[open]>summary{margin-bottom:8px}
.stack{display:grid;gap:12px}
.note{color:var(--soft);font-size:14px}
.sign-in{max-width:420px;margin:8vh auto 0;display:grid;gap:14px;width:100%}
.sign-in form{display:grid;gap:8px}
.sign-in label{font-weight:600}
.sign-in input{padding:9px 12px}
.sign-in button{margin-top:6px}
@media (max-width:860px){.pair{grid-template-columns:minmax(0,1fr)}.panes{grid-template-columns:minmax(0,1fr)}}
@media (max-width:720px){main{padding:16px 16px 48px;gap:16px}.top{padding:10px 16px}.card{padding:14px 16px}
.tiles{grid-template-columns:repeat(2,minmax(0,1fr))}.tile dd{font-size:22px}
.sums .wide,.sums .c-bar{display:none}
.rows,.rows tbody,.rows tr,.rows td{display:block;width:auto}
.rows thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.rows tr{padding:10px 0;border-bottom:1px solid var(--line);display:grid;grid-template-columns:1fr auto;gap:6px 12px}
.rows tr:last-child{border-bottom:0}
.rows td{border:0;padding:0;grid-column:1/-1}
.rows td:first-child{grid-column:1;text-align:left;padding:0;font-weight:600}.rows td:first-child .hidden{position:static;width:auto;height:auto;clip-path:none}.rows td:nth-child(2){grid-column:2}}
@media print{.top,.tools,.pager{display:none}}
`
