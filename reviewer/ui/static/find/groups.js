// Groups of alike items: the terms that define each, its size and states. A card opens its items in the table.

import { fill, h } from '../common/dom.js'
import { STATE_TONES, stateName } from '../common/filters.js'
import { number } from '../common/format.js'
import { getJSON, postJSON } from '../common/http.js'
import { pause } from '../common/idle.js'
import { t, tn } from '../common/language.js'

const POLL = 700 // ms
const SHOWN_TERMS = 8
const SHOWN_ITEMS = 5

/**
 * @typedef {Object} Group
 * @property {string[]} terms
 * @property {number} size
 * @property {number[]} items
 * @property {Record<string, number>} states
 */

export class Groups {
  #ticket = 0

  /** @param {{onOpen: (group: Group, number: number) => void, onClose: () => void}} callbacks */
  constructor(callbacks) {
    this.on = callbacks
    /** @type {Group[]} */
    this.groups = []
    this.status = h('p.muted', { role: 'status' })
    this.progress = h('progress', { hidden: true, 'aria-label': t('Grouping') })
    this.cards = h('div.group-cards')
    this.root = h(
      'section.groups',
      { hidden: true, 'aria-label': t('Groups') },
      h(
        'header',
        {},
        h('h2', {}, t('Groups of alike items')),
        h('button.link', { type: 'button', onClick: () => this.on.onClose() }, t('back to the search')),
      ),
      this.status,
      this.progress,
      this.cards,
    )
  }

  /**
   * Group the items of a selection; follow the work until it is done or another one begins.
   * @param {import('./selection.js').SelectionBody} selection @param {string} what in words
   */
  async start(selection, what) {
    const ticket = ++this.#ticket
    fill(this.cards)
    this.progress.hidden = false
    this.progress.removeAttribute('value')
    this.status.textContent = t('Grouping {what} by what their traces say …', { what })
    try {
      await postJSON('/api/v1/groups', { selection })
      for (;;) {
        const state = await getJSON('/api/v1/groups')
        if (ticket !== this.#ticket) return
        if (state.state === 'done') return this.#show(state.groups, what)
        if (state.state === 'failed') throw Object.assign(new Error(state.error), { kind: 'failed' })
        if (state.total) this.progress.value = state.done / state.total
        await pause(POLL)
      }
    } catch (error) {
      if (ticket !== this.#ticket) return
      this.progress.hidden = true
      this.status.textContent = error.message
      if (!error.kind) console.error(error)
    }
  }

  /** @param {Group[]} groups @param {string} what */
  #show(groups, what) {
    this.groups = groups
    this.progress.hidden = true
    this.status.textContent = groups.length
      ? tn(
          '{n} group of {what}, the largest first. A card opens its items in the table, where you can select them.',
          '{n} groups of {what}, the largest first. A card opens its items in the table, where you can select them.',
          groups.length,
          { what },
        )
      : t('These are too few items for groups. Widen the search, then group again.')
    fill(
      this.cards,
      groups.map((group, at) => this.#card(group, at + 1)),
    )
  }

  /** @param {Group} group @param {number} at */
  #card(group, at) {
    const states = Object.entries(group.states).sort(([, a], [, b]) => b - a)
    return h(
      'article.group',
      { 'aria-label': t('Group {number}', { number: at }) },
      h(
        'header',
        {},
        h('strong', {}, t('Group {number}', { number: at })),
        h('span.muted', {}, tn('{n} item', '{n} items', group.size, { n: number(group.size) })),
      ),
      h(
        'p.terms',
        {},
        group.terms.slice(0, SHOWN_TERMS).map((term) => h('span.term', {}, term)),
      ),
      h(
        'p.states',
        {},
        states.map(([state, n]) =>
          h(`span.pill.${STATE_TONES[state] ?? 'blue'}`, {}, `${number(n)} ${stateName(state)}`),
        ),
      ),
      h(
        'p.muted',
        {},
        t('Typical:'),
        group.items.slice(0, SHOWN_ITEMS).map((id) => [' ', h('a', { href: `#item=${id}` }, `#${id}`)]),
      ),
      h('button', { type: 'button', onClick: () => this.on.onOpen(group, at) }, t('Show these items')),
    )
  }
}
