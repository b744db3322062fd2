/**
 * The style of the pages that the service writes itself for buyers: orders, the draw, the sandbox, and what is not
 * there.
 */
import { SHARED_STYLE } from './fonts.ts';

export const STYLE = `${SHARED_STYLE}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100dvh; display: flex; flex-direction: column; background: var(--paper); color: var(--ink); font: 16px/1.5 var(--sans); }
.bar { background: var(--surface); border-bottom: 1px solid var(--line); padding: .75rem 1.5rem; }
.brand { display: flex; width: fit-content; max-width: 100%; align-items: center; gap: .75rem; margin-left: max(0px, calc((100% - 75rem) / 2));
  color: var(--ink); font: 600 1.1875rem/1.15 var(--serif); text-decoration: none; }
.brand img, .brand svg { flex: none; } .brand img { object-fit: contain; } .brand span { min-width: 0; overflow-wrap: anywhere; hyphens: auto; }
.brand rect { fill: var(--accent); } .brand path { fill: var(--accent-ink); }
main { flex: 1; width: 100%; max-width: 46rem; margin: 0 auto; padding: 1.5rem 1.5rem 3rem; }
.bar, main, .foot { flex-shrink: 0; }
.foot .links a { display: inline-block; margin: 0 .5rem; } .foot { overflow-wrap: anywhere; border-top: 1px solid var(--line); padding: 1.5rem; color: var(--ink-quiet); font-size: .875rem; text-align: center; }
.back { margin: 0 0 1rem; }
.back a { display: inline-flex; align-items: center; gap: .5rem; color: var(--ink-quiet); text-decoration: none; }
.back a:hover { color: var(--ink); text-decoration: underline; }
.back svg { fill: none; stroke: currentColor; stroke-width: 1.7; stroke-linecap: round; stroke-linejoin: round; }
h1 { font: 600 clamp(1.9rem, 1.4rem + 2vw, 2.5rem)/1.1 var(--serif); letter-spacing: -.015em; margin: 0 0 .5rem; text-wrap: balance; overflow-wrap: anywhere; }
h2 { font: 600 1.3rem/1.25 var(--serif); margin: 0 0 .75rem; }
p { margin: .25rem 0; overflow-wrap: anywhere; text-wrap: pretty; }
a { color: var(--accent); text-underline-offset: .18em; text-decoration-thickness: 1px; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
code { font: .88em var(--mono); }
.quiet { color: var(--ink-quiet); }
.small { font-size: .875rem; }
.lead { font-size: 1.1875rem; color: var(--ink-quiet); }
section { background: var(--surface); border: 1px solid var(--line); border-radius: 16px; padding: 1.5rem; margin: 0 0 1rem; }
.badge { display: inline-block; padding: .1em .7em; border-radius: 99px; font: 600 .8125rem/1.7 var(--sans); margin-bottom: .75rem; }
.badge.good { color: var(--good); background: var(--good-soft); }
.badge.wait { color: var(--warn); background: var(--warn-soft); }
.badge.bad { color: var(--bad); background: var(--bad-soft); }
.notice { padding: .75rem 1rem; border-radius: 10px; background: var(--warn-soft); color: var(--warn); margin: .75rem 0; }
.notice.good { background: var(--good-soft); color: var(--good); margin-top: 0; }
.lines, .offers { list-style: none; margin: .5rem 0; padding: 0; } .lines li, .offers li { padding: .5rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.lines li:first-child, .offers li:first-child { border-top: 0; } .offers a { font-weight: 600; } .offers .small { display: block; } .history h2:not(:first-child) { margin-top: 1.25rem; }
details:not(:first-child) { margin-top: .75rem; } summary { cursor: pointer; font-weight: 600; min-height: 1.75rem; }
fieldset { border: 0; margin: 1rem 0 0; padding: 0; min-width: 0; } legend { font-weight: 650; padding: 0; margin-bottom: .5rem; }
.choice { display: flex; gap: .75rem; align-items: flex-start; padding: .75rem 0; border-top: 1px solid var(--line); cursor: pointer; overflow-wrap: anywhere; }
.choice input { flex: none; width: 1.375rem; height: 1.375rem; margin: .05rem 0 0; accent-color: var(--accent); } .choice .small, .becomes { display: block; }
.field { display: grid; gap: .25rem; margin: 1rem 0 0; font-weight: 600; } .person { border-top: 1px solid var(--line); padding-top: .75rem; }
.field input, .field select { width: 100%; min-width: 0; min-height: 2.875rem; padding: .5rem .75rem; border: 1px solid var(--line-strong); border-radius: 10px; background: var(--surface); color: var(--ink); font: 1rem/1.3 var(--sans); }
table { width: 100%; border-collapse: collapse; }
td { padding: .5rem 0; vertical-align: top; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
tr:first-child td { border-top: 0; }
td:last-child { text-align: right; white-space: nowrap; padding-left: 1rem; font-variant-numeric: tabular-nums; }
tr.sum td { font-weight: 650; }
tr.total td { border-top-color: var(--line-strong); }
.button, button { display: inline-flex; align-items: center; justify-content: center; min-height: 2.875rem; font: 600 1rem/1.2 var(--sans);
  padding: .5rem 1.5rem; border-radius: 10px; border: 1px solid transparent; background: var(--accent); color: var(--accent-ink);
  text-decoration: none; cursor: pointer; }
.button:hover, button:hover { background: var(--accent-hover); }
button.plain, .button.plain { background: var(--surface); color: var(--ink); border-color: var(--line-strong); }
button.plain:hover, .button.plain:hover { background: var(--sunken); }
.button:focus-visible, button:focus-visible { border-radius: 10px; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0 .75rem; } .actions:last-child { margin-bottom: 0; }
.event { font-weight: 650; }
.number, .short { font: 600 1rem/1.4 var(--mono); letter-spacing: .04em; }
section.ended h1 { color: var(--ink-quiet); }
.tickets { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 18rem), 1fr)); list-style: none; margin: 0; padding: 0; }
.ticket { display: flex; flex-direction: column; border: 1px solid var(--line-strong); border-radius: 12px; overflow: hidden; break-inside: avoid; }
.ticket .code { background: #fff; color: #1d1b18; text-align: center; padding-bottom: .5rem; }
.ticket svg { display: block; width: 100%; height: auto; padding: .75rem .75rem 0; }
.ticket .about { flex: 1; padding: .75rem 1rem 1rem; border-top: 2px dashed var(--line-strong); }
.ticket > img { display: block; width: 100%; aspect-ratio: 16 / 7; object-fit: cover; }
.ticket .seat { font: 600 1.1875rem/1.3 var(--serif); }
.ticket .holder { font-size: 1.0625rem; font-weight: 600; }
.ticket .perks { margin-top: .5rem; padding: .25rem .6rem; border-radius: 8px; background: var(--accent-soft); font-size: .875rem; }
.ticket.void .about { color: var(--ink-quiet); text-decoration: line-through; }
.ticket .stamp { margin: 0; padding: 2rem .75rem; text-transform: uppercase; letter-spacing: .2em; color: #615b52; }
pre { overflow-x: auto; font-size: .8rem; line-height: 1.45; padding: .9rem 1rem; background: var(--sunken); border-radius: 10px; }
.amount { font: 600 2.5rem/1.2 var(--serif); font-variant-numeric: tabular-nums; margin: .25rem 0 .5rem; }
.actions .due { display: none; } .due svg { width: 1.25em; height: 1.25em; margin-bottom: -.25em; fill: none; stroke: currentColor; stroke-width: 1.7; stroke-linecap: round; } .due .urgent { color: var(--bad); }
@media (max-width: 64rem) { .actions.next { position: fixed; inset: auto 0 0; z-index: 1; align-items: center; margin: 0; border-top: 1px solid var(--line-strong);
  padding: .75rem max(1rem, env(safe-area-inset-right)) max(.75rem, env(safe-area-inset-bottom)) max(1rem, env(safe-area-inset-left)); background: var(--surface); }
  .actions .due { display: block; flex: 1 0 auto; margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; } .actions.next { gap: .5rem; }
  body:has(.actions.next) { padding-bottom: 5.5rem; } }
@media (max-width: 30rem) { .actions.next:has(.due) :is(button, .button) { padding-inline: 1rem; } .actions .due { flex-basis: 100%; } body:has(.actions .due) { padding-bottom: 8rem; } }
@media (max-width: 40rem) { main { padding: 1.25rem 1rem 2rem; } section { padding: 1.25rem; } .bar { padding-inline: 1rem; } }
@media print { :root { color-scheme: light; --paper: #fff; --surface: #fff; --ink: #000; --ink-quiet: #444; --line-strong: #999; --accent-soft: #f1ede5; }
  body { background: #fff; } .bar.own { border: 0; padding: 0 0 .4cm; background: none; } .brand { margin: 0; } .bar:not(.own), .back, .actions, .foot, .screen, .secret, .badge { display: none; } main { max-width: none; padding: 0; }
  section { border: 0; padding: 0; } .tickets { display: block; }
  .all-tickets > h2 { display: none; }
  .ticket { display: grid; grid-template-columns: 5.5cm 1fr; break-before: page; } .ticket .about { border-top: 0; border-left: 2px dashed #999; }
  .ticket > img { grid-column: 1 / -1; aspect-ratio: auto; max-height: 7cm; } .all-tickets + section { break-before: page; } }
`;
