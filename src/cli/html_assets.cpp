// Style and script of the page of `show --html`: nothing is fetched.
#include "cli/html_assets.h"

namespace calotype::cli {

const char* const kPageStyle = R"css(
:root { --paper: #fbfbfa; --ink: #22262b; --dim: #6b7480; --line: #d9dde2; --bar: #eef0f2; --mark: #fff1b8;
  --held: #ffe083; --loop: #0b62a8; --produce: #8a3ea8; --realize: #1b7a3d; --edge: #d08a00; color-scheme: light; }
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { --paper: #16191d; --ink: #d8dde3;
  --dim: #8b95a1; --line: #30363d; --bar: #1f2429; --mark: #3b3520; --held: #55481a; --loop: #6cb6ff;
  --produce: #d2a8ff; --realize: #7ee2a0; --edge: #e3b341; color-scheme: dark; } }
:root[data-theme=dark] { --paper: #16191d; --ink: #d8dde3; --dim: #8b95a1; --line: #30363d; --bar: #1f2429;
  --mark: #3b3520; --held: #55481a; --loop: #6cb6ff; --produce: #d2a8ff; --realize: #7ee2a0; --edge: #e3b341;
  color-scheme: dark; }
* { box-sizing: border-box; }
html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; background: var(--paper); color: var(--ink);
  font: 14px/1.45 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: 4px 18px; align-items: baseline; padding: 8px 14px;
  border-bottom: 1px solid var(--line); background: var(--bar); }
h1 { font-size: 16px; margin: 0; }
header u { color: var(--dim); text-decoration: none; }
.tools { margin-left: auto; display: flex; gap: 12px; align-items: center; }
button, input[type=search] { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line);
  border-radius: 4px; padding: 2px 8px; }
button { cursor: pointer; }
main { flex: 1; display: flex; min-height: 0; }
section { display: flex; flex-direction: column; min-width: 0; }
#nest { flex: 0 0 44%; } #code { flex: 1 1 0; }
#grip { flex: 0 0 6px; cursor: col-resize; background: var(--bar); border-left: 1px solid var(--line);
  border-right: 1px solid var(--line); }
nav { display: flex; gap: 2px; padding: 6px 8px 0; border-bottom: 1px solid var(--line); background: var(--bar); }
.tab { border: 1px solid transparent; border-bottom: 0; border-radius: 4px 4px 0 0; background: none; color: var(--dim); }
.tab.open { background: var(--paper); border-color: var(--line); color: var(--ink); margin-bottom: -1px; }
.panel { display: none; flex: 1; overflow: auto; padding: 8px 0; }
.panel.open { display: block; }
.t, .c, pre, code, .names { font: 12.5px/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; tab-size: 8; }
.t { display: flex; white-space: pre; padding-right: 12px; width: max-content; min-width: 100%; cursor: pointer; }
.t b { flex: 0 0 16px; text-align: center; font-weight: normal; color: var(--dim); }
.in { margin-left: 14px; border-left: 1px solid var(--line); }
.in.shut { display: none; }
.c { white-space: pre; padding: 0 12px; width: max-content; min-width: 100%; border-left: 3px solid transparent; }
.c[data-f] { cursor: pointer; }
body.wrap .t, body.wrap .c, body.wrap pre { white-space: pre-wrap; overflow-wrap: anywhere; width: auto; }
i { font-style: normal; color: var(--dim); }
.loop > span { color: var(--loop); } .produce > span { color: var(--produce); font-weight: 600; }
.realize > span { color: var(--realize); } .other > span { color: var(--dim); }
.on { background: var(--mark); } .held { background: var(--held); }
.c.on, .c.held { border-left-color: var(--edge); }
.found > span { outline: 2px solid var(--edge); outline-offset: -1px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 4px 10px; border-bottom: 1px solid var(--line); }
thead th { position: sticky; top: -8px; background: var(--paper); color: var(--dim); font-weight: 600; }
td:first-child { font-weight: 600; color: var(--produce); white-space: nowrap; }
td code { overflow-wrap: anywhere; }
tr[data-n] { cursor: pointer; }
.names { color: var(--dim); white-space: pre-wrap; overflow-wrap: anywhere; }
pre { margin: 0; padding: 0 14px; }
@media (max-width: 800px) { main { flex-direction: column; } #nest, #code { flex: 1 1 50%; min-height: 0; }
  #grip { display: none; } }
)css";

const char* const kPageScript = R"js(
'use strict';
const all = (query, under) => Array.from((under || document).querySelectorAll(query));
const nodes = {}, lines = {};
for (const e of all('.t[data-n], tr[data-n]')) (nodes[e.dataset.n] = nodes[e.dataset.n] || []).push(e);
for (const e of all('.c[data-f]'))
  for (const n of e.dataset.f.split(' ')) (lines[n] = lines[n] || []).push(e);
let held = null;
function mark(n, name, bring) {
  for (const e of all('.' + name)) e.classList.remove(name);
  if (n === null) return;
  for (const e of (nodes[n] || []).concat(lines[n] || [])) e.classList.add(name);
  if (!bring) return;
  for (const panel of all('.panel.open')) {
    const first = panel.querySelector('.' + name);
    if (!first || panel.contains(bring)) continue;
    const at = first.getBoundingClientRect(), view = panel.getBoundingClientRect();
    if (at.top < view.top || at.bottom > view.bottom) panel.scrollTop += at.top - view.top - view.height / 3;
  }
}
const target = event => event.target.closest('.t[data-n], tr[data-n], .c[data-f]');
const number = e => e.dataset.n !== undefined ? e.dataset.n : e.dataset.f.split(' ')[0];
document.addEventListener('mouseover', event => {
  const e = target(event);
  mark(e ? number(e) : null, 'on', null);
});
document.addEventListener('click', event => {
  const tab = event.target.closest('.tab');
  if (tab) {
    const section = tab.closest('section');
    for (const e of all('.tab, .panel', section)) e.classList.remove('open');
    tab.classList.add('open');
    document.getElementById(tab.dataset.panel).classList.add('open');
    if (held !== null) mark(held, 'held', tab);
    return;
  }
  if (event.target.matches('.t b') && event.target.textContent) {
    const inside = event.target.parentElement.nextElementSibling;
    event.target.textContent = inside.classList.toggle('shut') ? '\u25b8' : '\u25be';
    return;
  }
  const e = target(event);
  if (!e) return;
  held = held === number(e) ? null : number(e);
  mark(held, 'held', e);
});
document.getElementById('wrap').onchange = event => document.body.classList.toggle('wrap', event.target.checked);
document.getElementById('theme').onclick = () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
};
document.getElementById('find').oninput = event => {
  const wanted = event.target.value.trim();
  for (const e of all('.found')) e.classList.remove('found');
  if (!wanted) return;
  const found = all('.t.loop, .t.produce, .t.realize').filter(
    e => e.querySelector('span').textContent.split(/[\s:()\[\],]+/).some(word => word.startsWith(wanted)));
  for (const e of found) e.classList.add('found');
  if (found[0]) found[0].scrollIntoView({block: 'center'});
};
document.getElementById('grip').onpointerdown = down => {
  const nest = document.getElementById('nest'), start = nest.getBoundingClientRect().width - down.clientX;
  const move = event => { nest.style.flexBasis = Math.max(150, start + event.clientX) + 'px'; };
  document.addEventListener('pointermove', move);
  document.addEventListener('pointerup', () => document.removeEventListener('pointermove', move), {once: true});
  down.preventDefault();
};
if (location.hash) {
  held = location.hash.slice(1);
  mark(held, 'held', document.body);
}
)js";

}  // namespace calotype::cli
