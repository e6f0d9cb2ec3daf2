#include "bench/html_style.hpp"

namespace berth::bench {

const std::string_view page_style = R"(
:root { color-scheme: light dark; --page: #f6f5f2; --card: #ffffff; --ink: #1b2430; --quiet: #596575; --rule: #dcdfe4;
  --ours: #1d5ea8; --ours-soft: #cfe0f3; --base: #7b8694; --base-soft: #e6e9ed; --mark: #b4470f; }
@media (prefers-color-scheme: dark) { :root { --page: #11151b; --card: #1a2029; --ink: #e7ebf1; --quiet: #9ba7b6;
  --rule: #303946; --ours: #6fb1f5; --ours-soft: #24476d; --base: #97a3b2; --base-soft: #313b48; --mark: #f39b63; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin: 0 0 .5rem; }
h3 { font-size: .95rem; margin: 1.25rem 0 .25rem; color: var(--quiet); font-weight: 600; }
p { margin: .4rem 0; }
.quiet, figcaption, .facts dt, .none { color: var(--quiet); }
figcaption, .facts { font-size: .9rem; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 1rem 0; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
section { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 1.1rem 1.25rem; margin: 1rem 0; }
section.warnings { border-left: 6px double var(--mark); }
section.warnings ul { margin: 0; padding-left: 1.2rem; }
.row { display: grid; grid-template-columns: 13rem minmax(0, 1fr) 12rem; gap: 0 1rem; align-items: center;
  border-top: 1px solid var(--rule); padding: .35rem 0; }
.row b { font-weight: 600; overflow-wrap: anywhere; }
.row .figures { text-align: right; font-variant-numeric: tabular-nums; }
.row small, .row .figures small { display: block; white-space: nowrap; color: var(--quiet); font-size: .82rem; font-weight: 400; }
.ends { display: flex; justify-content: space-between; color: var(--quiet); font-size: .82rem; font-variant-numeric: tabular-nums; }
.ends span:nth-child(2) { text-align: center; padding: 0 .5rem; }
.ends.row { border-top: 0; display: grid; padding: 0; }
.ends .inner { display: flex; justify-content: space-between; }
svg { display: block; width: 100%; overflow: visible; }
svg.hidden { position: absolute; width: 0; height: 0; }
svg text { fill: var(--ink); font-size: 13px; text-anchor: middle; font-variant-numeric: tabular-nums; }
svg text.axis { fill: var(--quiet); }
.range { stroke: var(--quiet); stroke-width: 1; }
.box { fill: var(--ours-soft); stroke: var(--ours); stroke-width: 1.5; }
.box.base { fill: url(#lines); stroke: var(--base); }
.median { stroke: var(--ink); stroke-width: 3; }
.tick { stroke: var(--ink); stroke-width: 1.5; }
.dot { fill: var(--ours); fill-opacity: .75; }
.hollow { fill: none; stroke: var(--base); stroke-width: 1.2; }
.ratio { fill: var(--ours); fill-opacity: .85; }
.ratio.missed { fill: url(#hatch); stroke: var(--mark); stroke-width: 1.5; }
.one { stroke: var(--ink); stroke-width: 2; stroke-dasharray: 4 3; }
.bar { fill: var(--card); stroke: var(--ink); stroke-width: 2; }
.curve.p50 { stroke: var(--ours); stroke-width: 2.5; }
.curve.p90 { stroke: var(--quiet); stroke-width: 1.5; stroke-dasharray: 2 5; stroke-linecap: round; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .6rem; border-top: 1px solid var(--rule); white-space: nowrap; }
th { color: var(--quiet); font-weight: 600; border-top: 0; }
th:first-child, td:first-child, td:last-child, th:last-child { text-align: left; }
.worse::before { content: "\25B2  "; } .better::before { content: "\25BC  "; }
@media (max-width: 44rem) {
  section { padding: .9rem .8rem; }
  .row, .ends.row { grid-template-columns: 1fr; }
  .row { padding: .6rem 0; }
  .row .figures { text-align: left; }
  .row .figures small { display: inline; margin-left: .6rem; }
  svg text { font-size: 11px; }
}
@media print { body { background: none; } section { break-inside: avoid; } }
)";

const std::string_view page_patterns =
    R"svg(<svg class="hidden" aria-hidden="true"><defs>)svg"
    R"svg(<pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">)svg"
    R"svg(<rect width="3" height="7" style="fill:var(--mark)"/></pattern>)svg"
    R"svg(<pattern id="lines" width="5" height="5" patternUnits="userSpaceOnUse">)svg"
    R"svg(<rect width="5" height="1.4" style="fill:var(--base)"/></pattern></defs></svg>)svg";

}  // namespace berth::bench
