# SPDX-License-Identifier: BSD-2-Clause
"""How a page looks: light or dark as the reader's system is, on any width, and in print."""

# On a narrow window wide figures scroll, for their letters would be too small.
# Figures stay light in the dark, on a card, since their colours are chosen for white paper.
STYLE = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --soft: #555; --line: #ccc;
  --field: #f4f4f4; --link: #0b57a4; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e4e4e4; --paper: #16181b; --soft: #b4b8bd; --line: #464a50; --field: #23262b;
    --link: #8ab8ff; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72em; margin: 2em auto; padding: 0 1em;
  color: var(--ink); background: var(--paper); overflow-wrap: break-word; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
main:focus { outline: none; }
.skip { position: absolute; left: -999em; }
.skip:focus { left: 1em; top: 0.5em; padding: 0.4em 0.8em; background: var(--paper); z-index: 1; }
h1 { font-size: 1.6em; line-height: 1.25; }
h2 { margin-top: 2em; border-bottom: 1px solid var(--line); }
nav ul { display: flex; flex-wrap: wrap; gap: 0.3em 1.2em; padding: 0; list-style: none; }
figure { margin: 1.5em 0; }
img { display: block; box-sizing: border-box; max-width: 100%; min-width: 38em; height: auto;
  padding: 0.5em; background: #fff; border-radius: 6px; }
figcaption, .note, caption { color: var(--soft); font-size: 0.93em; }
figcaption { margin-top: 0.4em; } figcaption b, caption b { color: var(--ink); }
.wide { overflow-x: auto; margin: 1em 0; }
table { border-collapse: collapse; font-size: 0.9em; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: 0.3em; font-weight: bold; }
caption span { position: sticky; left: 0; display: inline-block; max-width: calc(100vw - 3em); }
td, th { padding: 0.2em 0.7em; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
tbody th { font-weight: normal; }
td:first-child, th:first-child { text-align: left; padding-left: 0; }
.plain td, .plain th { text-align: left; white-space: normal; overflow-wrap: anywhere; }
.plain th { min-width: 5em; } .plain td:nth-child(2) { min-width: 14em; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--field); padding: 0.6em;
  font-size: 0.85em; }
summary { cursor: pointer; }
@media print { nav, .skip { display: none; } body { margin: 0; font-size: 10pt; }
  h2, h3 { break-after: avoid; } figure, tr { break-inside: avoid; }
  img { padding: 0; min-width: 0; }
  .wide { overflow-x: visible; }
  td, th { white-space: normal; padding: 0.1em 0.4em; } }
"""
