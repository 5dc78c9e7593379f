// The help menu at the right end of the top bar: keys, guide, tour, rounds, documentation, language, version.

import { address } from '../common/address.js'
import { cap, fill, h } from '../common/dom.js'
import { Keys } from '../common/keys.js'
import { chooseLanguage, language, languages, t } from '../common/language.js'
import { openPanel } from '../common/panels.js'
import { mayReadLog, openAuditLog } from '../progress/audit_log.js'
import { roundsElements } from './rounds.js'

const DOCUMENTS = address('/docs/')

/**
 * @typedef {Object} HelpCallbacks
 * @property {() => void} onKeys
 * @property {() => void} onGuide
 * @property {() => void} onTour
 */

/** A button with a menu below it: arrows move, Enter chooses, Esc closes. */
export class HelpMenu {
  /** @param {Person} me @param {HelpCallbacks} callbacks */
  constructor(me, { onKeys, onGuide, onTour }) {
    this.button = h(
      'button.help',
      {
        title: t('keys, class guide, tour, documentation, version'),
        'aria-haspopup': 'menu',
        'aria-expanded': 'false',
        'aria-controls': 'so-help-menu',
        onClick: () => (this.isOpen ? this.#close() : this.#open()),
      },
      t('Help'),
    )
    this.menu = h('div.so-menu', { id: 'so-help-menu', role: 'menu', 'aria-label': t('Help'), hidden: true })
    fill(
      this.menu,
      this.#entry(t('Keys'), Keys.of('keys'), onKeys),
      this.#entry(t('Class guide'), Keys.of('guide'), onGuide),
      this.#entry(t('Tour of the page'), Keys.of('tour'), onTour),
      this.#entry(t('The five rounds'), '', () => openRounds(me.rules)),
      h(
        'a.entry',
        { role: 'menuitem', tabIndex: -1, href: DOCUMENTS, target: '_blank', onClick: () => this.#close() },
        h('span', t('Documentation')),
        h('span.muted', { 'aria-hidden': 'true' }, '↗'),
      ),
      mayReadLog(me) && this.#entry(t('Audit log'), '', openAuditLog),
      Object.entries(languages).map(([code, name]) => this.#language(code, name)),
      h('p.version', { role: 'none' }, `Spec-o3 ${me.version}`),
    )
    this.root = h('div.so-help', this.button, this.menu)
    this.root.addEventListener('keydown', (event) => this.#press(event))
    this.root.addEventListener('focusout', ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && this.root.contains(relatedTarget))) this.#close({ refocus: false })
    })
  }

  get isOpen() {
    return !this.menu.hidden
  }

  /** @param {string} label @param {string} key @param {() => void} act */
  #entry(label, key, act) {
    const onClick = () => {
      this.#close()
      act()
    }
    const shown = key && cap(key)
    return h('button.entry', { role: 'menuitem', tabIndex: -1, onClick }, h('span', label), shown)
  }

  /** @param {string} code @param {string} name */
  #language(code, name) {
    const chosen = code === language
    return h(
      'button.entry',
      {
        role: 'menuitemradio',
        'aria-checked': String(chosen),
        tabIndex: -1,
        lang: code,
        onClick: () => (chosen ? this.#close() : chooseLanguage(code)),
      },
      h('span', name),
      chosen && h('span.muted', { 'aria-hidden': 'true' }, '✓'),
    )
  }

  get #entries() {
    return /** @type {HTMLElement[]} */ ([...this.menu.querySelectorAll('.entry')])
  }

  #open() {
    this.menu.hidden = false
    this.button.setAttribute('aria-expanded', 'true')
    this.#entries[0].focus()
  }

  #close({ refocus = true } = {}) {
    if (!this.isOpen) return
    this.menu.hidden = true
    this.button.setAttribute('aria-expanded', 'false')
    if (refocus) this.button.focus()
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (!this.isOpen) {
      if (event.key !== 'ArrowDown') return
      event.preventDefault()
      event.stopPropagation()
      this.#open()
      return
    }
    // No key of the tab behind acts while the menu is open.
    event.stopPropagation()
    const entries = this.#entries
    const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement))
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (event.key === 'Escape') this.#close()
    else if (to !== undefined) entries.at(to % entries.length)?.focus()
    else return
    event.preventDefault()
  }
}

/** @param {Person['rules']} rules */
export const openRounds = (rules) => openPanel(t('The five rounds'), roundsElements(rules))
