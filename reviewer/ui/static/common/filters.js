// The filter of the queue, which Review and Find share: its form, the chips of its active fields, and how it is sent.

import { fill, h } from './dom.js'
import { select } from './fields.js'
import { getJSON } from './http.js'
import { t, withCommas, word } from './language.js'

/** @typedef {Record<string, string>} Filter by field; an empty text does not filter */

/** The states in the order of the work, each with its colour. @type {Record<string, string>} */
export const STATE_TONES = {
  ...{ screening: 'blue', revision: 'blue', returned: 'red', audit: 'blue', vote: 'blue', adjudication: 'amber' },
  ...{ approved: 'green', rejected: 'red', 'cannot tell': 'amber', withdrawn: 'grey' },
}

/** The name of a state, for people. */
export const stateName = word

/** Outcomes of trials of evidence. @type {Record<string, string>} */
const TRIALS = {
  passed: t('evidence passed its trial'),
  failed: t('evidence failed its trial'),
  untested: t('no trial'),
}

/** @type {Record<string, string>} */
const DISCUSSED = {
  open: t('with open comments'),
  unread: t('with unread comments'),
  mentioned: t('comments mention me'),
}

const NOBODY = 'nobody'

/**
 * What each field means, in words.
 * @type {Record<string, (value: string, tasks: Record<string, TaskText>) => string>}
 */
const WORDS = {
  mine: () => t('waiting for me'),
  words: (value) => t('words {text}', { text: value }),
  text: (value) => `“${value}”`,
  state: (value) => withCommas(value.split(',').map(stateName)),
  task: (value, tasks) => tasks[value]?.title ?? value,
  survey: (value) => value,
  drafter: (value) => t('drafted by {name}', { name: value }),
  batch: (value) => t('batch {name}', { name: value }),
  snr_min: (value) => `S/N ≥ ${value}`,
  snr_max: (value) => `S/N ≤ ${value}`,
  disagreement: () => t('only disagreements'),
  trial: (value) => TRIALS[value] ?? value,
  order: () => t('next by value of information'),
  simulated: (value) => (value === 'true' ? t('simulated') : t('not simulated')),
  assigned: (value) => (value === NOBODY ? t('assigned to nobody') : t('assigned to {name}', { name: value })),
  discussed: (value) => DISCUSSED[value] ?? value,
  listed: (value) => t('list {name}', { name: listNames.get(value) ?? value }),
}

/** Initials with the name of the person, where it is known. @param {string} initials @param {string} [name] */
export const withName = (initials, name) => (name ? `${initials} · ${name}` : initials)

/** The names of lists by their number, as far as they are known. @type {Map<string, string>} */
const listNames = new Map()

/** Note the names of lists for the chips. @param {{id: number, name: string}[]} views */
export function noteLists(views) {
  for (const { id, name } of views) listNames.set(String(id), `“${name}”`)
}

/** The fields that filter. @param {Filter} filter */
const active = (filter) => Object.keys(filter).filter((name) => (filter[name] ?? '') !== '')

/** The filter as a query string; the order of the items is no part of it. @param {Filter} filter */
export function queryOf(filter) {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(bodyOf(filter)))
    for (const entry of [value].flat()) query.append(name, entry)
  return String(query)
}

/** The filter as it is sent in a selection and stored in a view. @param {Filter} filter */
export function bodyOf(filter) {
  const names = active(filter).filter((name) => name !== 'order')
  return Object.fromEntries(names.map((name) => [name, name === 'state' ? filter.state.split(',') : filter[name]]))
}

/** A filter as the server keeps it, for the page. @param {Record<string, any>} body @returns {Filter} */
export function filterOf(body) {
  const filter = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value ?? '')]))
  for (const name of Object.keys(filter)) if (body[name] === false && name !== 'simulated') filter[name] = ''
  return Object.fromEntries(active(filter).map((name) => [name, filter[name]]))
}

/** The fields of a filter that are active, each with a button that removes it. */
export class FilterChips {
  /**
   * @param {Record<string, TaskText>} tasks @param {(filter: Filter) => void} onChange
   * @param {string[]} hidden fields that are shown elsewhere
   */
  constructor(tasks, onChange, hidden = []) {
    this.root = h('ul.chips', { 'aria-label': t('Active filters') })
    this.tasks = tasks
    this.onChange = onChange
    this.hidden = hidden
    /** @type {Filter} */
    this.filter = {}
    /** @type {Record<string, string>} */
    this.hints = {}
  }

  /** @param {Filter} filter @param {Record<string, string>} hints longer texts, by field */
  show(filter, hints = {}) {
    Object.assign(this, { filter, hints })
    const shown = active(filter).filter((name) => !this.hidden.includes(name))
    this.root.hidden = !shown.length
    fill(
      this.root,
      shown.map((name) => this.#chip(name, filter, hints[name])),
      shown.length > 1 && h('li', h('button.link', { onClick: () => this.onChange({}) }, t('clear all'))),
    )
    const unknown = filter.listed && !listNames.has(filter.listed)
    if (unknown) this.#learnLists(filter.listed).catch(() => {}) // the number of the list is shown
  }

  /** @param {string} list its number */
  async #learnLists(list) {
    noteLists(await getJSON('/api/v1/views'))
    if (!listNames.has(list)) listNames.set(list, list)
    this.show(this.filter, this.hints)
  }

  #chip(name, filter, hint) {
    const words = WORDS[name]?.(filter[name], this.tasks) ?? `${name}: ${filter[name]}`
    const without = Object.fromEntries(Object.entries(filter).filter(([other]) => other !== name))
    const remove = { 'aria-label': t('remove the filter {words}', { words }), onClick: () => this.onChange(without) }
    return h('li.pill', { title: hint ?? words }, h('span', words), h('button', remove, '×'))
  }
}

/** The form of a filter. `change` gets the new filter; typed text is awaited for a moment. */
export class FilterForm {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #soon

  /**
   * @param {Record<string, TaskText>} tasks @param {(filter: Filter) => void} onChange
   * @param {{order?: boolean, words?: boolean}} fields those of one tab only
   */
  constructor(tasks, onChange, { order = false, words = true } = {}) {
    this.tasks = tasks
    this.onChange = onChange
    this.with = { order, words }
    /** @type {Filter} */
    this.filter = {}
    /** @type {Record<string, any>} values by field; `names` of people by initials */
    this.facets = {}
    const typed = (/** @type {any} */ { target, isComposing }) => {
      if (!['text', 'words'].includes(target.name) || isComposing) return
      clearTimeout(this.#soon)
      this.#soon = setTimeout(() => this.#changed(), 250)
    }
    this.root = h('form.filter', {
      onSubmit: (/** @type {Event} */ e) => e.preventDefault(),
      onChange: () => this.#changed(),
      onInput: typed, // the letters of an input method are no words yet
      onCompositionend: (/** @type {Event} */ { target }) => typed({ target }),
    })
  }

  /** Draw the form with the values that occur now; not while it is being filled in. @param {Filter} filter */
  async load(filter) {
    this.filter = filter
    this.facets = await getJSON('/api/v1/facets')
    if (!this.root.contains(document.activeElement)) this.show(this.filter)
  }

  #changed() {
    clearTimeout(this.#soon)
    const data = new FormData(this.root)
    const given = [...data.entries()].map(([name, value]) => [name, value === 'on' ? 'true' : String(value)])
    const hidden = Object.entries(this.filter).filter(([name]) => !this.root.elements.namedItem(name))
    this.filter = Object.fromEntries([...hidden, ...given])
    this.onChange(this.filter)
  }

  /** @param {Filter} filter */
  show(filter) {
    clearTimeout(this.#soon)
    this.filter = filter
    const { facets, tasks } = this
    const choose = (name, label, values, labelOf = (v) => v, all = t('all')) => {
      // A value that occurs no longer is shown as long as it filters.
      const offered = filter[name] && !values.includes(filter[name]) ? [...values, filter[name]] : values
      return select(name, label, [['', all], ...offered.map((v) => [v, labelOf(v)])], filter[name])
    }
    const input = (name, props) => h('input', { ...props, name, value: filter[name] ?? '' })
    const text = (name, label, placeholder) => h('label', label, input(name, { type: 'search', placeholder }))
    const number = (name, bound) => {
      const label = t('S/N {bound}', { bound })
      return input(name, { type: 'number', step: 'any', placeholder: bound, 'aria-label': label })
    }
    const tick = (name, label) =>
      h('label.check', h('input', { name, type: 'checkbox', checked: filter[name] === 'true' }), ` ${label}`)
    fill(
      this.root,
      text('text', t('Name or id'), t('part of it, or #123')),
      this.with.words && text('words', t('Words in texts'), t('of traces and comments')),
      tick('mine', t('waiting for me')),
      tick('disagreement', t('only disagreements')),
      choose('state', t('State'), Object.keys(STATE_TONES), (value) => WORDS.state(value, tasks)),
      choose('task', t('Class'), facets.task ?? [], (key) => tasks[key]?.title ?? key),
      choose('survey', t('Survey'), facets.survey ?? []),
      choose('drafter', t('Drafted by'), facets.drafter ?? []),
      choose('batch', t('Batch'), facets.batch ?? []),
      h('label', t('S/N'), h('span.range', number('snr_min', t('from')), number('snr_max', t('to')))),
      choose(
        'assigned',
        t('Assigned to'),
        [...Object.keys(facets.names ?? {}), NOBODY],
        (who) => (who === NOBODY ? t('nobody') : withName(who, facets.names?.[who])),
        t('any'),
      ),
      choose('discussed', t('Comments'), Object.keys(DISCUSSED), (kind) => DISCUSSED[kind], t('any')),
      choose('simulated', t('Simulated'), ['true', 'false'], (value) =>
        value === 'true' ? t('only simulated') : t('only observed'),
      ),
      (facets.trial?.length > 0 || filter.trial) &&
        choose('trial', t('Trial of evidence'), facets.trial, (outcome) => TRIALS[outcome]),
      this.with.order &&
        (facets.order?.length > 0 || filter.order) &&
        choose('order', t('Next item'), ['value'], () => t('by value of information'), t('by number')),
      h('button', { onClick: () => this.#clear() }, t('show everything')),
    )
  }

  #clear() {
    this.show({})
    this.root.querySelector('button')?.focus() // it was drawn again
    this.onChange({})
  }
}
