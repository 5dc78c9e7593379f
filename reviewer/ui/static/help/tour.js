// The tour: six short cards, each next to the part of the Review tab that it speaks of.

import { lasting } from '../common/browser_storage.js'
import { cap, fill, h } from '../common/dom.js'
import { Keys } from '../common/keys.js'
import { t, withParts } from '../common/language.js'
import { panelIsOpen } from '../common/panels.js'

const SEEN = 'so-tour' // initials of the people who have seen it in this browser, separated by spaces
const GAP = 12 // px between card, target and edges
const RING = 4 // px around the target

/**
 * `targets`: the first visible one counts.
 * @typedef {{title: string, text: import('../common/dom.js').Child[], targets: string[]}} Stop
 */

/** The actions whose keys are in the texts of the tour, by their names in the messages. */
const ACTIONS = {
  ...{ next: 'next', filter: 'filter', left: 'step-back', right: 'step-next', reset: 'reset', z: 'redshift' },
  ...{ evidence: 'evidence', yes: 'decide-yes', reject: 'decide-no', undo: 'undo' },
  ...{ keys: 'keys', guide: 'guide', tour: 'tour' },
}

/** @param {string} message */
const withCaps = (message) => {
  const caps = Object.entries(ACTIONS).map(([name, action]) => [name, cap(Keys.of(action))])
  return withParts(message, Object.fromEntries(caps))
}

/** @returns {Stop[]} */
const stops = () => [
  {
    title: t('Your queue'),
    text: withCaps(
      t('The items of the campaign; those that wait for you come first. {next} opens the next one, {filter} filters.'),
    ),
    targets: ['.so-review > .queue', '.so-review .open-queue'],
  },
  {
    title: t('The trace'),
    text: withCaps(
      t(
        'What the agent thought and which windows it zoomed into, step by step. {left} {right} select a step. In ' +
          'revision you edit the text and the windows here.',
      ),
    ),
    targets: ['.so-review .trace .card', '.so-review .trace'],
  },
  {
    title: t('The spectrum'),
    text: withCaps(
      t(
        'The full range, and the window of the selected step with the same number. Drag to zoom in, {reset} resets, ' +
          '{z} sets a redshift, {evidence} opens line tables and templates.',
      ),
    ),
    targets: ['.so-review .spectrum'],
  },
  {
    title: t('Hints'),
    text: [
      t(
        'Measurements on the window of each zoom. Green: of a kind that is right nearly always; amber: check this ' +
          'yourself; grey: a number or a limit. A hint never decides: you do.',
      ),
    ],
    targets: ['.so-review .trace .hints', '.so-review .trace .card', '.so-review .trace'],
  },
  {
    title: t('Your decision'),
    text: withCaps(
      t(
        'The buttons change with the round, the keys stay: {yes} is yes, {reject} rejects with a reason, {undo} ' +
          'takes your last decision back.',
      ),
    ),
    targets: ['.so-review .decision-bar'],
  },
  {
    title: t('Help'),
    text: withCaps(t('All keys ({keys}), the guide of the class ({guide}), the documentation and this tour ({tour}).')),
    targets: ['.so-help .help'],
  },
]

/** The tour of one page. */
export class Tour {
  #at = 0
  #stops = stops()
  #inFront = false // whether the Review tab is visible; it is being opened when the tour starts in another one
  #busy = false // whether the person has begun to work on this page
  /** @type {HTMLElement | null} */
  #card = null
  /** @type {Element | null} */
  #focused = null

  /** @param {string} initials of the person of this page */
  constructor(initials) {
    this.initials = initials
    this.ring = h('div.so-tour-ring', { 'aria-hidden': 'true' })
    for (const name of ['keydown', 'pointerdown']) {
      document.addEventListener(name, () => (this.#busy = true), { capture: true, once: true })
    }
  }

  /** Start the tour if this person has not seen it in this browser, and has not begun to work. */
  startOnce() {
    if (this.#seen().includes(this.initials) || this.#busy || panelIsOpen()) return
    this.start()
  }

  start() {
    if (this.#card) return
    lasting.set(SEEN, [...new Set([...this.#seen(), this.initials])].join(' '))
    this.#focused = document.activeElement
    this.#at = 0
    this.#inFront = false
    this.#card = h('div.so-tour', {
      role: 'dialog',
      'aria-labelledby': 'so-tour-title',
      'aria-describedby': 'so-tour-text',
      tabIndex: -1,
    })
    this.#card.addEventListener('keydown', this.#press)
    document.body.append(this.ring, this.#card)
    this.#show()
    this.#follow()
  }

  #seen() {
    return (lasting.get(SEEN) ?? '').split(' ').filter(Boolean)
  }

  #end = () => {
    if (!this.#card) return
    const hadFocus = this.#card.contains(document.activeElement)
    this.ring.remove()
    this.#card.remove()
    this.#card = null
    // On a narrow page it has scrolled to its targets.
    document.querySelector('.so-review')?.scrollTo(0, 0)
    if (hadFocus && this.#focused instanceof HTMLElement) this.#focused.focus({ preventScroll: true })
  }

  /** @param {KeyboardEvent} event */
  #press = (event) => {
    // No key of the tab behind acts while the focus is in the card.
    event.stopPropagation()
    if (event.key === 'Escape') this.#end()
    else if (event.key === 'ArrowRight' || event.key === 'ArrowDown') this.#go(1)
    else if (event.key === 'ArrowLeft' || event.key === 'ArrowUp') this.#go(-1)
    else return
    event.preventDefault()
  }

  /** @param {number} by */
  #go(by) {
    const to = this.#at + by
    if (to < 0) return
    if (to >= this.#stops.length) return this.#end()
    this.#at = to
    this.#show()
  }

  get #target() {
    const visible = (/** @type {Element | null} */ element) => element && element.getClientRects().length > 0
    return this.#stops[this.#at].targets.map((selector) => document.querySelector(selector)).find(visible) ?? null
  }

  #show() {
    const card = /** @type {HTMLElement} */ (this.#card)
    const { title, text } = this.#stops[this.#at]
    const last = this.#at === this.#stops.length - 1
    const next = h('button.primary', { type: 'button', onClick: () => this.#go(1) }, last ? t('Done') : t('Next'))
    fill(
      card,
      h(
        'h2',
        { id: 'so-tour-title' },
        title,
        ' ',
        h('span.muted', {}, t('{at} of {all}', { at: this.#at + 1, all: this.#stops.length })),
      ),
      h(
        'p',
        { id: 'so-tour-text' },
        text.map((part) => (part instanceof Node ? part.cloneNode(true) : part)),
      ),
      h(
        'footer',
        {},
        !last && h('button.link', { type: 'button', onClick: this.#end }, t('Skip the tour')),
        this.#at > 0 && h('button', { type: 'button', onClick: () => this.#go(-1) }, t('Back')),
        next,
      ),
    )
    this.#target?.scrollIntoView({ block: 'nearest' })
    this.#place(card)
    next.focus({ preventScroll: true })
  }

  /** Stay at the target while it moves: it is scrolled, hints arrive, the window is resized. Ends with the tab. */
  #follow() {
    if (!this.#card) return
    const inFront = Boolean(document.querySelector('.so-review')?.getClientRects().length)
    if (this.#inFront && !inFront) {
      this.#end()
      return
    }
    this.#inFront = inFront
    this.#place(this.#card)
    requestAnimationFrame(() => this.#follow())
  }

  /**
   * Put ring and card where they are needed now: the card next to the target, never over it.
   * @param {HTMLElement} card
   */
  #place(card) {
    const target = this.#target
    const { offsetWidth: width, offsetHeight: height } = card
    this.ring.hidden = !target
    if (!target) return move(card, { left: (innerWidth - width) / 2, top: (innerHeight - height) / 2 })
    const box = shownPart(target)
    const [left, top] = [box.left - RING, box.top - RING]
    move(this.ring, { left, top, width: box.width + 2 * RING, height: box.height + 2 * RING })
    move(card, placeNextTo(box, width, height))
  }
}

/** The part of an element that the window and its scrolling parents show. @param {Element} element */
function shownPart(element) {
  let { left, top, right, bottom } = element.getBoundingClientRect()
  /** @param {{left: number, top: number, right: number, bottom: number}} limit */
  const cut = (limit) => {
    left = Math.max(left, limit.left)
    top = Math.max(top, limit.top)
    right = Math.min(right, limit.right)
    bottom = Math.min(bottom, limit.bottom)
  }
  const bar = document.querySelector('.so-review > .decision-bar')
  const covered = bar && !bar.contains(element) ? bar.getBoundingClientRect().top : 0
  cut({ left: 0, top: 0, right: innerWidth, bottom: covered || innerHeight })
  for (let parent = element.parentElement; parent; parent = parent.parentElement) {
    if (/auto|scroll|hidden/.test(getComputedStyle(parent).overflowY)) cut(parent.getBoundingClientRect())
  }
  return { left, top, right, bottom, width: Math.max(0, right - left), height: Math.max(0, bottom - top) }
}

/**
 * The place of a card: right, left, below or above the box, where it fits; otherwise on the side with most space.
 * @param {{left: number, top: number, right: number, bottom: number}} box @param {number} width @param {number} height
 */
function placeNextTo(box, width, height) {
  const within = (/** @type {number} */ at, /** @type {number} */ size, /** @type {number} */ whole) =>
    Math.max(GAP, Math.min(at, whole - size - GAP))
  const top = within(box.top, height, innerHeight)
  const left = within(box.left, width, innerWidth)
  const sides = [
    { space: innerWidth - box.right - 2 * GAP - width, left: box.right + GAP, top },
    { space: box.left - 2 * GAP - width, left: box.left - GAP - width, top },
    { space: innerHeight - box.bottom - 2 * GAP - height, left, top: box.bottom + GAP },
    { space: box.top - 2 * GAP - height, left, top: box.top - GAP - height },
  ]
  const best = sides.find(({ space }) => space >= 0) ?? sides.reduce((a, b) => (a.space >= b.space ? a : b))
  return { left: within(best.left, width, innerWidth), top: within(best.top, height, innerHeight) }
}

/** @param {HTMLElement} element @param {Record<string, number>} lengths in px */
function move(element, lengths) {
  for (const [name, value] of Object.entries(lengths)) element.style.setProperty(name, `${Math.round(value)}px`)
}
