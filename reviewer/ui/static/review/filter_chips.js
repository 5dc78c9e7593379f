// The filters of the queue that are active, each with a button that removes it.

import { fill, h } from '../common/dom.js'

/** Outcomes of trials of evidence, in words. @type {Record<string, string>} */
export const TRIALS = { passed: 'evidence passed its trial', failed: 'evidence failed its trial', untested: 'no trial' }

/**
 * What each filter means, in words.
 * @type {Record<string, (value: string, tasks: Record<string, TaskText>) => string>}
 */
const WORDS = {
  mine: () => 'waiting for me',
  text: (value) => `“${value}”`,
  state: (value) => value,
  task: (value, tasks) => tasks[value]?.title ?? value,
  survey: (value) => value,
  drafter: (value) => `drafted by ${value}`,
  batch: (value) => `batch ${value}`,
  snr_min: (value) => `S/N ≥ ${value}`,
  snr_max: (value) => `S/N ≤ ${value}`,
  disagreement: () => 'only disagreements',
  trial: (value) => TRIALS[value] ?? value,
  order: () => 'next by value of information',
  simulated: (value) => (value === 'true' ? 'simulated' : 'not simulated'),
}

export class FilterChips {
  /** @param {Record<string, TaskText>} tasks @param {(filter: Record<string, string>) => void} onChange */
  constructor(tasks, onChange) {
    this.root = h('ul.chips', { 'aria-label': 'Active filters' })
    this.tasks = tasks
    this.onChange = onChange
  }

  /** @param {Record<string, string>} filter @param {Record<string, string>} hints longer texts, by filter */
  show(filter, hints = {}) {
    const active = Object.keys(filter).filter((name) => filter[name] !== '' && filter[name] !== null)
    this.root.hidden = !active.length
    fill(
      this.root,
      active.map((name) => this.#chip(name, filter, hints[name])),
      active.length > 1 &&
        h('li', {}, h('button.link', { type: 'button', onClick: () => this.onChange({}) }, 'clear all')),
    )
  }

  /** @param {string} name @param {Record<string, string>} filter @param {string} [hint] */
  #chip(name, filter, hint) {
    const words = WORDS[name]?.(filter[name], this.tasks) ?? `${name}: ${filter[name]}`
    const without = Object.fromEntries(Object.entries(filter).filter(([other]) => other !== name))
    const remove = { type: 'button', 'aria-label': `remove the filter ${words}`, onClick: () => this.onChange(without) }
    return h('li.pill', { title: hint ?? words }, h('span', {}, words), h('button', remove, '×'))
  }
}
