// The tour: four short cards, each next to the part of the Review tab that it speaks of.

import { lasting } from '../common/browser_storage.js'
import { cap, fill, h } from '../common/dom.js'
import { Keys } from '../common/keys.js'
import { sentences, t, withParts } from '../common/language.js'
import { panelIsOpen } from '../common/panels.js'

const SEEN = 'so-tour' // initials of the people who have seen it in this browser, separated by spaces
const GAP = 12 // px between card, target and edges
const RING = 4 // px around the target

/** The actions whose keys are in the texts of the tour, by their names in the messages. */
const ACTIONS = {
  ...{ next: 'next', filter: 'filter', left: 'step-back', right: 'step-next', reset: 'reset', z: 'redshift' },
  ...{ evidence: 'evidence', yes: 'decide-yes', reject: 'decide-no', undo: 'undo', keys: 'keys', tour: 'tour' },
}

/** @param {string} title @param {string[]} targets the first visible one counts @param {string} message */
function stop(title, targets, message) {
  const caps = Object.entries(ACTIONS).map(([name, action]) => [name, cap(Keys.of(action))])
  return { title, targets, text: withParts(message, Object.fromEntries(caps)) }
}

/** @param {number} demo spectra of the demo */
const stops = (demo) => [
  stop(
    t('Your queue'),
    ['.so-review > .queue', '.so-review .open-queue'],
    sentences(
      demo > 0 && t('Demo: {demo} simulated spectra. Some drafts are wrong on purpose: find them.', { demo }),
      t('The items of the campaign; those that wait for you come first. {next} opens the next one, {filter} filters.'),
    ),
  ),
  stop(
    t('The spectrum'),
    ['.so-review .spectrum'],
    t(
      'The full range, and the window of the selected step with the same number. Drag to zoom in, {reset} resets, ' +
        '{z} sets a redshift, {evidence} opens line tables and templates.',
    ),
  ),
  stop(
    t('The trace'),
    ['.so-review .trace .card', '.so-review .trace'],
    t(
      'What the agent thought and where it zoomed in; {left} {right} select a step. Hints are measurements: green ' +
        'agrees with the data, amber is for you to check. In revision you edit text and windows here.',
    ),
  ),
  stop(
    t('Your decision'),
    ['.so-review .decision-bar'],
    sentences(
      t(
        'The buttons change with the round, the keys stay: {yes} is yes, {reject} rejects with a reason, {undo} ' +
          'takes your last decision back.',
      ),
      t('{keys} shows all keys, {tour} this tour.'),
    ),
  ),
]

const seen = () => (lasting.get(SEEN) ?? '').split(' ').filter(Boolean)

/** The tour of one page. */
export class Tour {
  #at = 0
  #inFront = false // whether the Review tab is visible; it is being opened when the tour starts in another one
  #busy = false // whether the person has begun to work on this page
  /** @type {HTMLElement | null} */
  #card = null
  /** @type {Element | null} */
  #focused = null

  /** @param {{initials: string, demo: number}} me the person of this page */
  constructor({ initials, demo }) {
    this.initials = initials
    this.stops = stops(demo)
    this.ring = h('div.so-tour-ring', { 'aria-hidden': 'true' })
    for (const name of ['keydown', 'pointerdown']) {
      document.addEventListener(name, () => (this.#busy = true), { capture: true, once: true })
    }
  }

  /** Start the tour if this person has not seen it in this browser, and has not begun to work. */
  startOnce() {
    if (seen().includes(this.initials) || this.#busy || panelIsOpen()) return
    this.start()
  }

  start() {
    if (this.#card) return
    lasting.set(SEEN, [...new Set([...seen(), this.initials])].join(' '))
    this.#focused = document.activeElement
    this.#at = 0
    this.#inFront = false
    const labels = { 'aria-labelledby': 'so-tour-title', 'aria-describedby': 'so-tour-text' }
    this.#card = h('div.so-tour', { role: 'dialog', tabIndex: -1, onkeydown: this.#press, ...labels })
    document.body.append(this.ring, this.#card)
    this.#show()
    this.#follow()
  }

  #end() {
    const hadFocus = this.#card?.contains(document.activeElement)
    this.ring.remove()
    this.#card?.remove()
    this.#card = null
    // On a narrow page it has scrolled to its targets.
    document.querySelector('.so-review')?.scrollTo(0, 0)
    if (hadFocus && this.#focused instanceof HTMLElement) this.#focused.focus({ preventScroll: true })
  }

  /** @param {KeyboardEvent} event */
  #press = (event) => {
    // No key of the tab behind acts while the focus is in the card.
    event.stopPropagation()
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Escape: Infinity }[event.key]
    if (!by) return
    this.#go(by)
    event.preventDefault()
  }

  /** @param {number} by */
  #go(by) {
    const to = Math.max(0, this.#at + by)
    if (to >= this.stops.length) return this.#end()
    this.#at = to
    this.#show()
  }

  get #target() {
    const visible = (/** @type {Element | null} */ element) => element && element.getClientRects().length > 0
    return this.stops[this.#at].targets.map((selector) => document.querySelector(selector)).find(visible) ?? null
  }

  #show() {
    const card = /** @type {HTMLElement} */ (this.#card)
    const { title, text } = this.stops[this.#at]
    const button = (/** @type {string} */ tag, /** @type {string} */ label, /** @type {number} */ by) =>
      h(tag, { onClick: () => this.#go(by) }, label)
    const isLast = this.#at === this.stops.length - 1
    const skip = !isLast && button('button.link', t('Skip the tour'), Infinity)
    const next = button('button.primary', isLast ? t('Done') : t('Next'), 1)
    const place = h('span.muted', t('{at} of {all}', { at: this.#at + 1, all: this.stops.length }))
    fill(
      card,
      h('h2', { id: 'so-tour-title' }, title, ' ', place),
      h('p', { id: 'so-tour-text' }, text),
      h('footer', skip, this.#at > 0 && button('button', t('Back'), -1), next),
    )
    this.#target?.scrollIntoView({ block: 'nearest' })
    this.#place(card)
    next.focus({ preventScroll: true })
  }

  /** Stay at the target while it moves: it is scrolled, hints arrive, the window is resized. Ends with the tab. */
  #follow() {
    if (!this.#card) return
    const inFront = Boolean(document.querySelector('.so-review')?.getClientRects().length)
    if (this.#inFront && !inFront) return this.#end()
    this.#inFront = inFront
    this.#place(this.#card)
    requestAnimationFrame(() => this.#follow())
  }

  /** Put the ring around the target, the card next to it, never over it. @param {HTMLElement} card */
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
  const bar = document.querySelector('.so-review > .decision-bar')
  const covered = bar && !bar.contains(element) ? bar.getBoundingClientRect().top : 0
  const limits = [element.getBoundingClientRect(), new DOMRect(0, 0, innerWidth, covered || innerHeight)]
  for (let parent = element.parentElement; parent; parent = parent.parentElement) {
    if (/auto|scroll|hidden/.test(getComputedStyle(parent).overflowY)) limits.push(parent.getBoundingClientRect())
  }
  const [left, top] = [Math.max(...limits.map((box) => box.left)), Math.max(...limits.map((box) => box.top))]
  const [right, bottom] = [Math.min(...limits.map((box) => box.right)), Math.min(...limits.map((box) => box.bottom))]
  return new DOMRect(left, top, Math.max(0, right - left), Math.max(0, bottom - top))
}

/**
 * The place of a card: right, left, below or above the box, where it fits; otherwise on the side with most space.
 * @param {DOMRect} box @param {number} width @param {number} height
 */
function placeNextTo(box, width, height) {
  const within = (/** @type {{left: number, top: number}} */ { left, top }) => ({
    left: Math.max(GAP, Math.min(left, innerWidth - width - GAP)),
    top: Math.max(GAP, Math.min(top, innerHeight - height - GAP)),
  })
  const sides = [
    { space: innerWidth - box.right - width, left: box.right + GAP, top: box.top },
    { space: box.left - width, left: box.left - GAP - width, top: box.top },
    { space: innerHeight - box.bottom - height, left: box.left, top: box.bottom + GAP },
    { space: box.top - height, left: box.left, top: box.top - GAP - height },
  ]
  return within(sides.find(({ space }) => space >= 2 * GAP) ?? sides.reduce((a, b) => (a.space >= b.space ? a : b)))
}

/** @param {HTMLElement} element @param {Record<string, number>} lengths in px */
function move(element, lengths) {
  for (const [name, value] of Object.entries(lengths)) element.style.setProperty(name, `${Math.round(value)}px`)
}
