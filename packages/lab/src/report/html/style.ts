/** No external fonts or images. Light and dark by the reader's setting. Printable. */
export const style = `
:root {
  color-scheme: light dark;
  --page: #fbfbfa; --card: #ffffff; --ink: #1c1f23; --soft: #646b75; --faint: #e7e8ea; --rule: #cfd3d8;
  --good: #0a7d4f; --bad: #b3372b; --same: #51606f; --unsure: #8a6d1a; --wash: #f1f3f5;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7; --c4: #8f6c00; --c5: #56a0d3; --c6: #6a3d9a; --c7: #444444;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15171a; --card: #1c1f23; --ink: #e8eaed; --soft: #9aa2ad; --faint: #2b2f35; --rule: #434952;
    --good: #4cc38a; --bad: #f0776a; --same: #9fb0c3; --unsure: #d9b64a; --wash: #23272c;
    --c0: #5ab0e8; --c1: #f08c42; --c2: #3fcf9f; --c3: #e39cc4; --c4: #d9b13b; --c5: #9bd0f0; --c6: #b294e6; --c7: #c4c8ce;
  }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, sans-serif }
main { max-width: 1060px; margin: 0 auto; padding: 48px 28px 80px }
header { margin-bottom: 36px }
.label { color: var(--soft); font-size: 13px; letter-spacing: .08em; text-transform: uppercase; margin: 0 0 6px }
h1 { font-size: 30px; line-height: 1.25; font-weight: 650; margin: 0; max-width: 26em; text-wrap: balance }
h2 { font-size: 19px; font-weight: 650; margin: 52px 0 4px }
h2 + p { color: var(--soft); margin: 0 0 16px; max-width: 46em }
h3 { font-size: 15px; font-weight: 600; margin: 24px 0 6px }
.when { color: var(--soft); margin: 10px 0 0; font-size: 14px }
.answers { display: grid; gap: 10px; padding: 0; margin: 28px 0 0; list-style: none }
.answers li { --v: var(--same); display: grid; grid-template-columns: 108px 1fr; align-items: center; gap: 18px;
  background: var(--card); border: 1px solid var(--faint); border-left: 4px solid var(--v); border-radius: 6px; padding: 12px 20px 12px 16px }
.answers .big { color: var(--v); font-size: 25px; font-weight: 680; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.answers small { display: block; color: var(--soft); font-size: 13.5px }
.answers .faster { --v: var(--good) } .answers .slower { --v: var(--bad) }
.answers .unclear { --v: var(--unsure) } .answers .invalid { --v: var(--rule); color: var(--soft) }
.warning { background: var(--card); border: 1px solid var(--bad); border-radius: 6px; padding: 12px 18px; margin: 14px 0 0 }
.warning ul { margin: 4px 0 0; padding-left: 20px }
figure { margin: 0; background: var(--card); border: 1px solid var(--faint); border-radius: 8px; padding: 16px 18px; overflow-x: auto }
figure + figure { margin-top: 14px }
svg { display: block; width: 100%; min-width: 620px; height: auto; font: 13px system-ui, sans-serif }
svg text { fill: var(--ink) }
svg .tick, svg .hint, svg .strip { fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums }
svg .grid { stroke: var(--faint); stroke-width: 1 } svg .axis { stroke: var(--rule); stroke-width: 1 }
svg .one { stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 3 3 }
svg .noise { fill: var(--faint); opacity: .75 }
svg .name { font-weight: 500 } svg .value { font-weight: 650; font-variant-numeric: tabular-nums }
svg .verdict { --v: var(--same) }
svg .faster { --v: var(--good) } svg .slower { --v: var(--bad) } svg .unclear { --v: var(--unsure) } svg .invalid { --v: var(--rule) }
svg .reach { stroke: var(--v); stroke-width: 2 } svg circle { fill: var(--v) } svg .verdict .value { fill: var(--v) }
svg .curve { stroke-width: 2; stroke-linejoin: round } svg .series { stroke-width: 1.3; stroke-linejoin: round; stroke-linecap: round }
svg .slice { fill: none } svg .slice.odd { fill: var(--wash) } svg .slice.open { fill: var(--faint); opacity: .6 }
${Array.from({ length: 8 }, (_, at) => `.c${at} { stroke: var(--c${at}); --key: var(--c${at}) }`).join('\n')}
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; list-style: none; margin: 0 0 10px; padding: 0; font-size: 14px }
.legend li::before { content: ''; display: inline-block; width: 18px; height: 3px; border-radius: 2px; background: var(--key); margin-right: 8px; vertical-align: middle }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--faint); border-radius: 8px; margin-top: 10px }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums }
th, td { padding: 8px 14px; text-align: right; white-space: nowrap } th:first-child, td:first-child { text-align: left }
th { color: var(--soft); font-weight: 500; border-bottom: 1px solid var(--rule) } tr + tr td { border-top: 1px solid var(--faint) }
td.faster { color: var(--good); font-weight: 600 } td.slower { color: var(--bad); font-weight: 600 } td.unclear { color: var(--unsure) }
td.INVALID { color: var(--bad); font-weight: 700 }
details { margin-top: 10px } summary { cursor: pointer; padding: 4px 0; font-weight: 500 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 24px; margin: 0; font-size: 14px } dt { color: var(--soft) } dd { margin: 0 }
pre { background: var(--wash); border-radius: 6px; padding: 14px 18px; overflow-x: auto; font: 13.5px/1.5 ui-monospace, monospace; margin: 10px 0 0 }
.notes { padding-left: 20px; margin: 0 } .notes li { margin: 4px 0 }
@media print { body { background: none } main { padding: 0 } figure, .scroll, .answers li { break-inside: avoid } }
`
