// The rows of the table of found items: one body of the table per item, with a line of cells and, of a search for
// words, the lines of text in which they were found.

import { fill, h } from '../common/dom.js'
import { STATE_TONES, stateName } from '../common/filters.js'
import { number } from '../common/format.js'
import { nameInQueue } from '../spectrum/item_header.js'
import { Keys } from '../common/keys.js'
import { t, tn, TRACE, withCommas } from '../common/language.js'
import { linkTo } from '../common/links.js'
import { sparkline } from '../spectrum/sparklines.js'

/**
 * `mark`: "like" or "unlike", of the examples of a ranking
 * @typedef {ListedRow & {snippets?: Snippet[], similarity?: number, score?: number, mark?: string}} FoundRow
 */

export class Rows {
  /** @param {Partial<import('./results.js').Listing>} listing @param {import('./find.js').FindDesk} desk */
  constructor({ scored = false, ranking = false }, desk) {
    this.scored = scored
    this.ranking = ranking
    this.desk = desk
    this.columns = 12 + Number(scored) - 2 * Number(ranking)
  }

  /** @param {HTMLInputElement} all the box that selects all rows */
  head(all) {
    /** @param {string} name @param {import('../common/dom.js').Child} text */
    const column = (name, text) => h(`th.${name}`, { scope: 'col', role: 'columnheader' }, text)
    const columns = [
      column('tick', h('label', all)),
      column('no', t('No.')),
      this.scored && column('score', t('Similarity')),
      column('name', t('Name')),
      column('shape', t('Spectrum')),
      column('task', t('Class')),
      column('state', t('State')),
      column('drafter', t('Drafted by')),
      column('batch', t('Batch')),
      column('snr', t('S/N')),
      !this.ranking && [column('assigned', t('Assigned')), column('comments', t('Comments'))],
      column('do', h('span.hidden-text', t('Actions'))),
    ]
    return h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, columns))
  }

  /** @param {FoundRow} row */
  body(row) {
    const body = h(`tbody.hit${row.blind ? '.blind' : ''}`, { role: 'rowgroup', 'data-item': row.id })
    if (row.blind) return fill(body, this.#blindLine(row))
    const selected = this.desk.selection.has(row.id)
    body.classList.toggle('selected', selected)
    return fill(body, this.#line(row, selected), row.snippets?.length && this.#texts(row.id, row.snippets))
  }

  /** @param {FoundRow} row */
  #blindLine({ id }) {
    const words = t('in a blind session of yours: shown again when it is closed')
    return line(cell('tick', {}), cell('no', {}, `#${id}`), cell('name', { colSpan: this.columns - 2 }, words))
  }

  /** @param {FoundRow} row @param {boolean} selected */
  #line(row, selected) {
    const tick = { type: 'checkbox', 'aria-label': t('Select item {number}', { number: row.id }), checked: selected }
    const score = row.score ?? row.similarity
    const link = h('a.open-item', { href: `#item=${row.id}`, title: row.name }, nameInQueue(row.name))
    return line(
      cell('tick', {}, h('label', h('input', tick))),
      cell('no', {}, `#${row.id}`),
      this.scored && cell('score', {}, number(score, 2)),
      cell('name', {}, link, row.mark === 'like' && h('span.pill.green', t('example'))),
      cell('shape', {}, sparkline(row.spectrum)),
      this.#about(row),
      !this.ranking && this.#teamwork(row),
      this.#buttons(row),
    )
  }

  /** @param {FoundRow} row */
  #about({ task, state, snr, drafter, batch, simulated, disagreement, cast, needed }) {
    const title = this.desk.me.tasks[task]?.title ?? task
    const longTitle = simulated ? t('{task}, simulated by a program', { task: title }) : title
    const name = stateName(state)
    const progress = needed > 1 ? t('{state} {cast} of {wanted}', { state: name, cast, wanted: needed }) : name
    return [
      cell('task', { title: longTitle }, task, simulated && h('span.muted', ` ${t('sim.')}`)),
      cell(
        'state',
        {},
        h(`span.pill.${STATE_TONES[state] ?? 'blue'}`, progress),
        disagreement && h('span.pill.amber', t('disagreement')),
      ),
      cell('drafter', { title: drafter.name }, drafter.name),
      cell('batch', { title: batch }, batch),
      cell('snr', { 'data-label': t('S/N') }, snr === null ? '' : number(snr)),
    ]
  }

  /** @param {FoundRow} row */
  #teamwork({ assigned = [], comments = 0, unread = false }) {
    const people = withCommas(assigned)
    return [
      cell('assigned', { title: people, 'data-label': t('assigned to') }, people),
      cell(
        'comments',
        { 'data-label': t('comments') },
        comments > 0 && h('span.count', number(comments)),
        unread && h('span.pill.amber', t('unread')),
      ),
    ]
  }

  /** @param {FoundRow} row */
  #buttons(row) {
    const { menu, related } = this.desk
    const notLike = {
      'aria-pressed': String(row.mark === 'unlike'),
      title: t('mark as not like these ({key}), then rank again', { key: Keys.of('not-like') }),
      onClick: () => related.notLike(row.id),
    }
    const more = {
      'aria-haspopup': 'menu',
      'aria-label': t('Actions for item {number}', { number: row.id }),
      onClick: (event) => menu.open(row, event.currentTarget),
    }
    const button = this.ranking && h('button.not-like', notLike, t('not like these'))
    return cell('do', {}, button, h('button.row-menu', more, '⋯'))
  }

  /** The lines of text in which the words were found. @param {number} id @param {Snippet[]} snippets */
  #texts(id, snippets) {
    /** @param {Snippet} snippet */
    const text = (snippet) => {
      const isTrace = snippet.where === 'trace'
      const href = linkTo({ item: id, step: snippet.step })
      const source = h('a.source', { href }, isTrace ? t('trace') : t('comment'))
      return h('p', source, ' ', h('span', { lang: isTrace && TRACE }, marked(snippet)))
    }
    return h('tr.texts', { role: 'row' }, cell('found', { colSpan: this.columns }, snippets.map(text)))
  }

  /** The suggested cut of a ranking. @param {number} cut how many items are above it */
  cut(cut) {
    const text = tn(
      'Suggested cut: the {n} item above is like your examples',
      'Suggested cut: the {n} items above are like your examples',
      cut,
      { n: number(cut) },
    )
    const button = h('button', { onClick: () => this.desk.related.selectAlike() }, t('Select down to the cut'))
    const words = cell('words', { colSpan: this.columns }, h('span', text), button)
    return h('tbody.cut', { role: 'rowgroup' }, h('tr', { role: 'row' }, words))
  }
}

const line = (...cells) => h('tr.line', { role: 'row' }, cells)

/** @param {string} name @param {Record<string, any>} props @param {...import('../common/dom.js').Child} content */
const cell = (name, props, ...content) => h(`td.${name}`, { role: 'cell', ...props }, content)

/** @param {Snippet} line */
function marked({ text, hits }) {
  const characters = [...text] // not the units of JavaScript's strings
  /** @param {number} from @param {number} [to] */
  const part = (from, to) => characters.slice(from, to).join('')
  let at = 0
  const parts = hits.flatMap(([begin, end]) => {
    const pair = [part(at, begin), h('mark', part(begin, end))]
    at = end
    return pair
  })
  return [...parts, part(at)]
}
