// Groups of alike items: what defines each, its size and states. A card opens its items in the table.

import { fill, h } from '../common/dom.js'
import { STATE_TONES, stateName } from '../common/filters.js'
import { number } from '../common/format.js'
import { getJSON, postJSON } from '../common/http.js'
import { pause } from '../common/idle.js'
import { t, tn } from '../common/language.js'
import { showError } from '../common/notices.js'
import { withVerdictFirst } from './verdict_first.js'

const POLL = 500 // ms

/** What defines a group, in short. @param {ItemGroup} group */
export const groupName = ({ facts, words }) => [...facts.slice(0, 1), ...words].slice(0, 4).join(', ')

export class Groups {
  #ticket = 0

  /** @param {{onOpen: (group: ItemGroup) => void, onClose: () => void}} callbacks */
  constructor({ onOpen, onClose }) {
    this.onOpen = onOpen
    this.status = h('p.muted', { role: 'status' })
    this.progress = h('progress', { hidden: true, max: 1, 'aria-label': t('Grouping') })
    this.cards = h('div.group-cards')
    const back = h('button.link', { onClick: onClose }, t('back to the search'))
    const header = h('header', h('h2', t('Groups of alike items')), back)
    const props = { hidden: true, 'aria-label': t('Groups') }
    this.root = h('section.groups', props, header, this.status, this.progress, this.cards)
  }

  /**
   * Group the items of a selection; follow the work until it is done or another one begins.
   * @param {import('./selection.js').SelectionBody} selection @param {string} items how many, in words
   */
  async start(selection, items) {
    const ticket = ++this.#ticket
    fill(this.cards)
    this.progress.hidden = false
    this.progress.value = 0
    this.status.textContent = t('Grouping {items} by what their traces say …', { items })
    try {
      let job = await postJSON(withVerdictFirst('/api/v1/groups'), { selection })
      while (job.state === 'waiting' || job.state === 'running') {
        this.progress.value = job.progress
        await pause(POLL)
        if (ticket !== this.#ticket) return
        job = await getJSON(withVerdictFirst('/api/v1/groups'))
      }
      if (ticket === this.#ticket) this.#show(job)
    } catch (error) {
      if (ticket !== this.#ticket) return
      this.progress.hidden = true
      showError(this.status, error)
    }
  }

  /** Focus the button of a group's card. @param {ItemGroup} group */
  focus(group) {
    this.cards.querySelector(`[data-group="${group.number}"] button`)?.focus()
  }

  #show({ state, items, missing, groups }) {
    this.progress.hidden = true
    this.status.textContent = state === 'done' ? this.#summary(items, groups) : unfinished(state)
    if (missing > 0) {
      const left = tn('{n} item is not read yet', '{n} items are not read yet', missing, { n: number(missing) })
      this.status.append(` ${t('{items}, and in no group; group again in a minute.', { items: left })}`)
    }
    fill(this.cards, ...groups.filter(({ size }) => size > 0).map((group) => this.#card(group)))
  }

  /** @param {number} items @param {ItemGroup[]} groups */
  #summary(items, groups) {
    if (!groups.length) return t('These are too few items for groups. Widen the search, then group again.')
    const of = tn('{n} item', '{n} items', items, { n: number(items) })
    return tn(
      '{n} group of {items}, the largest first. A card opens its items in the table, where you can select them.',
      '{n} groups of {items}, the largest first. A card opens its items in the table, where you can select them.',
      groups.length,
      { items: of },
    )
  }

  /** @param {ItemGroup} group */
  #card(group) {
    const title = t('Group {number}', { number: group.number })
    const size = h('span.muted', tn('{n} item', '{n} items', group.size, { n: number(group.size) }))
    const states = Object.entries(group.states)
      .sort(([, a], [, b]) => b - a)
      .map(([state, n]) => h(`span.pill.${STATE_TONES[state] ?? 'blue'}`, `${number(n)} ${stateName(state)}`))
    const typical = group.typical.map(({ id, name }) => [' ', h('a', { href: `#item=${id}`, title: name }, `#${id}`)])
    return h(
      'article.group',
      { 'aria-label': title, 'data-group': group.number },
      h('header', h('strong', title), size),
      ...group.facts.map((fact) => h('p.fact', fact)),
      group.words.length > 0 && h('p.terms', ...group.words.map((word) => h('span.term', word))),
      h('p.states', states),
      h('p.muted', t('Typical:'), typical),
      h('button', { onClick: () => this.onOpen(group) }, t('Show these items')),
    )
  }
}

/** @param {string} state of a computation that has ended without groups */
const unfinished = (state) =>
  state === 'failed'
    ? t('The items could not be grouped; details are in the log of the server. Try again.')
    : t('This grouping was ended, because another one was started or the server was stopped. Try again.')
