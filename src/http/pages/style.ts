/** The style of the pages that the service writes itself: the order page and the sandbox's. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1d2530; --quiet: #5d6878; --paper: #ffffff; --ground: #eef1f5; --line: #d9dfe7;
  --accent: #1f5eff; --good: #0a7a4b; --bad: #b3261e; --wait: #8a5a00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ecf2; --quiet: #9aa5b5; --paper: #1a2029; --ground: #11151b; --line: #2c3542;
    --accent: #7aa2ff; --good: #5fd39b; --bad: #ff8f86; --wait: #f0c060; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; }
main { max-width: 42rem; margin: 0 auto; padding: 2rem 1rem 1rem; }
footer { text-align: center; color: var(--quiet); font-size: .8rem; padding: 0 1rem 2rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; text-wrap: balance; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0 0 .75rem; }
p { margin: .25rem 0; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); }
.small { font-size: .85rem; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 14px; padding: 1.25rem; margin: 0 0 1rem; }
.badge { display: inline-block; padding: .15rem .6rem; border-radius: 99px; font-size: .75rem; font-weight: 700;
  letter-spacing: .04em; border: 1px solid currentColor; margin-bottom: .75rem; }
.good { color: var(--good); } .bad { color: var(--bad); } .wait { color: var(--wait); }
table { width: 100%; border-collapse: collapse; }
td { padding: .4rem 0; vertical-align: top; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
tr:first-child td { border-top: 0; }
td:last-child { text-align: right; white-space: nowrap; padding-left: 1rem; font-variant-numeric: tabular-nums; }
tr.sum td { font-weight: 700; }
.button, button { display: inline-block; font: inherit; font-weight: 600; padding: .7rem 1.4rem; border-radius: 10px;
  border: 1px solid var(--accent); background: var(--accent); color: var(--paper); text-decoration: none; cursor: pointer; }
button.plain { background: transparent; color: var(--ink); border-color: var(--line); }
.button:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.actions { display: flex; flex-wrap: wrap; gap: .6rem; margin-top: 1rem; }
.actions form { display: contents; }
.tickets { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); list-style: none; margin: 0; padding: 0; }
.ticket { border: 1px solid var(--line); border-radius: 12px; overflow: hidden; break-inside: avoid; }
.ticket svg { display: block; width: 100%; height: auto; background: #fff; padding: .75rem; }
.ticket div { padding: .75rem 1rem 1rem; border-top: 2px dashed var(--line); }
.ticket.void svg { opacity: .12; }
pre { overflow-x: auto; font-size: .8rem; line-height: 1.4; padding: .75rem; border: 1px solid var(--line); border-radius: 10px; }
.amount { font-size: 2rem; font-weight: 700; font-variant-numeric: tabular-nums; margin: .5rem 0; }
.notice { border-color: var(--wait); border-style: dashed; }
@media print { body { background: #fff; } .actions, footer { display: none; } section { border: 0; padding: 0; } }
`;
