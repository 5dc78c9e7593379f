// Cards, tables and defined words of the Progress tab.

import { h } from '../common/dom.js'

/** A word with its definition as a tooltip, also for keyboard focus. */
export const defined = (text, meaning) =>
  h('span.defined', { tabIndex: 0 }, text, h('span.meaning', { role: 'tooltip' }, meaning))

export const card = (title, content) =>
  h('section.chart.agreement', {}, h('header', {}, h('h3', {}, title)), h('div.scroll', {}, content))

export function table(heads, numeric, meanings, rows) {
  return h(
    'table',
    {},
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        heads.map((head, i) => h('th', { scope: 'col' }, meanings?.[i] ? defined(head, meanings[i]) : head)),
      ),
    ),
    h(
      'tbody',
      {},
      rows.map((row) =>
        h(
          'tr',
          {},
          row.map((cell, i) => h(numeric.includes(i) ? 'td.estimate' : 'td', {}, cell)),
        ),
      ),
    ),
  )
}
