// Small parts of the Data tab: links, and reports of the server.

import { h } from '../common/dom.js'
import { linkTo } from '../common/links.js'
import { table } from '../common/page.js'
import { sparkline } from '../spectrum/sparklines.js'

/** @param {string} href @param {string} text @param {string} [label] of a link whose text is too short */
export const download = (href, text, label) => h('a', { href, download: '', 'aria-label': label }, text)

/** The address of a catalogue's files. @param {string} name */
export const zipOf = (name) => `api/v1/catalogues/${name}/zip`

/** The link to the items of a batch, in Review. @param {string} batch */
export const batchLink = (batch) => `#batch=${encodeURIComponent(batch)}`

/** A text with a link for each `#12`, which is an item, and its spectrum. @param {string} text */
const withItems = (text, drawn = false) =>
  text.split(/(?<![^\s(,])#(\d+)(?!\w|\.\w)/).map((piece, at) => {
    const link = at % 2 && h('a', { href: linkTo({ item: Number(piece) }) }, `#${piece}`)
    return link ? [link, drawn && sparkline(`item-${piece}`)] : piece
  })

/** What happened, with a table of details; with spectra at its end only. @param {Report} report */
export function reportOf({ tone, text, headings, rows }, isEnd = true) {
  const cells = rows.map((row) => row.cells.map((cell) => withItems(cell, isEnd)))
  const details = table([...headings], cells, '', (at) => ({ className: rows[at].tone }))
  // Progress changes every second: not read aloud.
  const role = { note: null, good: 'status', look: 'status', bad: 'alert' }[tone]
  return [h(`p.told.${tone}`, { role }, withItems(text)), rows.length > 0 && h('div.details', { tabIndex: 0 }, details)]
}
