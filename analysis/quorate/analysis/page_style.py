# SPDX-License-Identifier: BSD-2-Clause
"""How a page looks: light or dark as the reader's system is, on any width, and in print."""

# On a narrow window wide figures scroll, for their letters would be too small, and so do tables. A
# bar and a shade at the edge say so: browsers hide a bar that is not styled, or have none.
# Figures stay light in the dark, on a card, since their colours are chosen for white paper.
STYLE = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --soft: #555; --line: #ccc;
  --field: #f4f4f4; --link: #0b57a4; --shade: #0005; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e4e4e4; --paper: #16181b; --soft: #b4b8bd; --line: #464a50; --field: #23262b;
    --link: #8ab8ff; --shade: #fff6; } }
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
img { display: block; box-sizing: border-box; max-width: 100%; min-width: var(--least);
  height: auto; padding: 0.5em; background: #fff; border-radius: 6px; }
figcaption, .note, caption { color: var(--soft); font-size: 0.93em; }
figcaption { margin-top: 0.4em; } figcaption b, caption b { color: var(--ink); }
.wide { overflow-x: auto; margin: 1em 0; background:
  linear-gradient(var(--paper), var(--paper)) left / 2em 100% no-repeat local,
  linear-gradient(var(--paper), var(--paper)) right / 2em 100% no-repeat local,
  linear-gradient(to right, var(--shade), transparent) left / 1em 100% no-repeat scroll,
  linear-gradient(to left, var(--shade), transparent) right / 1em 100% no-repeat scroll; }
.wide::-webkit-scrollbar { height: 0.7em; }
.wide::-webkit-scrollbar-track { background: var(--field); }
.wide::-webkit-scrollbar-thumb { background: var(--soft); border-radius: 0.35em; }
@supports not selector(::-webkit-scrollbar) { .wide { scrollbar-color: var(--soft) var(--field); } }
table { border-collapse: collapse; font-size: 0.9em; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: 0.3em; font-weight: bold; }
caption span { position: sticky; left: 0; display: inline-block; max-width: calc(100vw - 3em); }
td, th { padding: 0.2em 0.7em; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
tbody th { font-weight: normal; }
td:first-child, th:first-child { text-align: left; padding-left: 0; }
.plain td, .plain th { text-align: left; white-space: normal; overflow-wrap: anywhere; }
.plain th { min-width: 5em; } .plain td:nth-child(2) { min-width: 14em; }
@media screen and (max-width: 48em) {
  tbody th { white-space: normal; min-width: 9em; max-width: 12em; overflow-wrap: anywhere; }
  td:first-child, th:first-child { position: sticky; left: 0; background: var(--paper); } }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--field); padding: 0.6em;
  font-size: 0.85em; }
summary { cursor: pointer; }
@media print { nav, .skip { display: none; } body { margin: 0; font-size: 10pt; }
  h2, h3 { break-after: avoid; } figure, tr { break-inside: avoid; }
  img { padding: 0; min-width: 0; }
  .wide { overflow-x: visible; background: none; }
  td, th { white-space: normal; padding: 0.1em 0.4em; } }
"""
