// Small parts of the Data tab: tables, buttons, reports of the server.

import { h } from '../common/dom.js'
import { linkTo } from '../common/links.js'

/**
 * @param {string} text @param {() => any} onClick
 * @param {'button' | 'button.primary' | 'button.link' | 'button.danger'} kind
 */
export const button = (text, onClick, kind = 'button') => h(kind, { onClick }, text)

/** @param {string} href @param {string} text @param {string} [label] of a link whose text is too short */
export const download = (href, text, label) => h('a', { href, download: '', 'aria-label': label }, text)

/** The link to the items of a batch, in Review. @param {string} batch */
export const batchLink = (batch) => `#batch=${encodeURIComponent(batch)}`

/** @param {string[]} titles @param {any[][]} rows cells, which may be elements @param {string[]} kinds of the rows */
export function table(titles, rows, kinds = []) {
  const body = rows.map((cells, at) => {
    const row = cells.map((cell) => h('td', cell))
    return h('tr', { className: kinds[at] ?? '' }, row)
  })
  const head = titles.map((title) => (title ? h('th', { scope: 'col' }, title) : h('td')))
  return h('table', h('thead', h('tr', head)), h('tbody', body))
}

/** A text with a link for each `#12`, which is an item. @param {string} text */
const withItems = (text) =>
  text.split(/(?<![^\s(,])#(\d+)(?!\w|\.\w)/).map((piece, at) => {
    return at % 2 ? h('a', { href: linkTo({ item: Number(piece) }) }, `#${piece}`) : piece
  })

/** What happened, with a table of details. @param {Report} report */
export function reportOf({ tone, text, headings, rows }) {
  const cells = rows.map((row) => row.cells.map(withItems))
  const tones = rows.map((row) => row.tone)
  // Progress changes every second: not read aloud.
  const role = { note: null, good: 'status', look: 'status', bad: 'alert' }[tone]
  return [
    h(`p.told.${tone}`, { role }, withItems(text)),
    rows.length > 0 && h('div.details', { tabIndex: 0 }, table([...headings], cells, tones)),
  ]
}
