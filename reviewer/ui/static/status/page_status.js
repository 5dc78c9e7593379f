// The status above all tabs: whether changes are saved, who is signed in, page-wide switches, and a strip
// while the server cannot be used.

import { address } from '../common/address.js'
import { HelpMenu } from '../help/menu.js'
import { lasting } from '../common/browser_storage.js'
import { fill, h } from '../common/dom.js'
import { timeWithSeconds } from '../common/format.js'
import { checkServer, connection } from '../common/http.js'
import { Keys } from '../common/keys.js'
import { sentences, t, withCommas, word } from '../common/language.js'
import { linkTo } from '../common/links.js'
import { aboutOf, outbox } from './outbox.js'
import { sheetOf } from '../common/popover.js'
import { mayInterrupt, openSignIn } from './sign_in.js'

const RETRY_AFTER = 3000 // ms
const FIRST_RETRY_AFTER = 700 // ms; a single failed request is not shown before the second one has failed

/** The right end of the tab row. */
export class TopBar {
  /**
   * @param {Person} me
   * @param {{onDark: () => void, onVerdictFirst: () => void, help: import('../help/menu.js').HelpCallbacks}} callbacks
   * @param {boolean} verdictFirst
   */
  constructor(me, callbacks, verdictFirst) {
    this.state = h('span.saved', { role: 'status' })
    this.unsent = h('button.look.unsent', { hidden: true })
    const sheet = sheetOf(this.unsent, 'div.unsent-sheet', t('Not sent'), unsentList)
    outbox.addEventListener('change', () => this.#showUnsent(sheet))
    this.first = h('button', { onClick: callbacks.onVerdictFirst })
    this.setVerdictFirst(verdictFirst)
    document.querySelector('.so-top')?.remove()
    this.person = this.#person(me, callbacks.onDark)
    this.onDark = callbacks.onDark
    const unsent = [h('span', { role: 'status' }, this.unsent), sheet]
    const help = new HelpMenu(me, callbacks.help).root
    const bar = h('header.so-top', h('h1', document.title), this.state, unsent, this.person, help)
    document.body.append(bar)
    // The tabs end where the bar begins.
    const measure = () => document.documentElement.style.setProperty('--so-top-width', `${bar.offsetWidth}px`)
    new ResizeObserver(measure).observe(bar)
  }

  /** Who is signed in, and the switches of the page in a sheet. @param {Person} me @param {() => void} onDark */
  #person(me, onDark) {
    const roles = me.rules.solo && !me.has_password ? t('alone') : withCommas(me.roles.map(word))
    const theme = t('dark or light theme ({key})', { key: Keys.of('dark') })
    const props = { title: theme, 'aria-label': t('Dark or light theme'), onClick: onDark }
    const signOut = h('button', { type: 'submit' }, t('sign out'))
    const content = () => [
      h('span.who', { title: me.name }, `${me.initials} · ${roles}`),
      this.first,
      h('button.theme', props, '◐'),
      me.has_password && h('form', { method: 'post', action: address('/sign-out') }, signOut),
    ]
    const title = t('{name}: roles, theme, verdict first, sign out', { name: me.name })
    const button = h('button.who', { title }, `${me.initials} ▾`)
    const sheet = sheetOf(button, 'div.sheet', me.name, content)
    sheet.id = 'so-person'
    return h('div.so-person', button, sheet)
  }

  /** Show the person anew, who has a password now. @param {Person} me */
  setPerson(me) {
    const person = this.#person(me, this.onDark)
    this.person.replaceWith(person)
    this.person = person
  }

  /** @param {boolean} on */
  setVerdictFirst(on) {
    this.first.className = on ? 'on' : ''
    const key = Keys.of('verdict-first')
    this.first.title = t('my verdict first: hide the answer until I have mine ({key})', { key })
    fill(this.first, on ? t('verdict first: on') : t('verdict first: off'))
  }

  /** @param {string} iso */
  saved(iso) {
    const textContent = t('saved {time}', { time: timeWithSeconds(iso) })
    Object.assign(this.state, { className: 'saved', title: '', textContent })
  }

  /** The server does not have the present text. @param {string} message why */
  notSaved(message) {
    Object.assign(this.state, { className: 'saved look', title: message, textContent: t('not saved yet') })
  }

  /** @param {HTMLElement} sheet the list of what is not sent */
  #showUnsent(sheet) {
    const { length } = outbox.unsent
    this.unsent.hidden = !length && !outbox.sending
    this.unsent.disabled = !length
    fill(this.unsent, length ? t('not sent: {n}', { n: length }) : t('sending …'))
    if (sheet.matches(':popover-open')) {
      if (length) fill(sheet, unsentList())
      else sheet.hidePopover()
    }
  }
}

/** @type {Record<import('./outbox.js').Kind, string>} */
const KINDS = {
  decision: t('decision'),
  verdict: t('own verdict'),
  undo: t('undo'),
  version: t('changed text'),
  medium: t('medium of the wavelengths'),
  mark: t('mark of a step'),
  comment: t('comment'),
  thread: t('state of a discussion'),
  inspection: t('inspection'),
  score: t('blind answer'),
}

/** What is not sent, each with its item and the reason. */
const unsentList = () =>
  outbox.unsent.map((entry) => {
    const { item, kind, verb, at, waiting, refused } = entry
    const about = item === null ? h('strong', aboutOf(entry)) : h('a', { href: linkTo({ item }) }, aboutOf(entry))
    const state = refused
      ? t('Not accepted: {reason}', { reason: refused })
      : waiting || t('Is sent after what was done before it.')
    return h(
      `div.unsent-entry${refused ? '.refused' : ''}`,
      h('p', about, ` · ${KINDS[kind]}${verb ? `: ${word(verb)}` : ''} · ${timeWithSeconds(at)}`),
      h('p.muted', state),
      refused && h('button', { onClick: () => outbox.remove(entry) }, t('Remove from this list')),
    )
  })

/**
 * A strip below the tabs while the page has no server: it does not answer, nobody is signed in, or another person is.
 * It covers nothing, and goes when requests succeed again.
 */
export class ConnectionStrip {
  #state = 'connected'
  #failures = 0
  #storageFull = false
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer

  /** @param {Person} me the person of this page @param {() => void} onReconnected */
  constructor(me, onReconnected) {
    this.me = me
    this.onReconnected = onReconnected
    this.strip = h('div.so-away', { role: 'status', hidden: true })
    document.body.append(this.strip)
    connection.addEventListener('changed', (event) => this.#changed(/** @type {CustomEvent} */ (event).detail))
    const check = () => this.#state !== 'connected' && !document.hidden && checkServer()
    document.addEventListener('visibilitychange', check)
    addEventListener('focus', check)
  }

  /** @param {{state: string, message: string}} change @returns {void} */
  #changed({ state, message }) {
    const before = this.#state
    this.#failures = state === 'unreachable' ? this.#failures + 1 : 0
    if (this.#failures === 1 && before === 'connected') return this.#checkAfter(FIRST_RETRY_AFTER)
    this.#state = state
    if (state === 'connected') {
      if (before === 'connected') return undefined
      clearTimeout(this.#timer)
      this.#show(null)
      return this.onReconnected()
    }
    if (state !== before || lasting.refused !== this.#storageFull) this.#show(this.#content(state, message))
    if (state === 'signed-out' && before !== state && mayInterrupt()) openSignIn(this.me)
    return this.#checkAfter(RETRY_AFTER)
  }

  /** @param {number} ms */
  #checkAfter(ms) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(checkServer, ms)
  }

  /** @param {string} state @param {string} message */
  #content(state, message) {
    const kept = lasting.refused
      ? t('This browser keeps no copy of your text (its storage is full or forbidden): leave this page open.')
      : t('What you write is kept in this browser.')
    if (state === 'unreachable')
      return [h('span', sentences(t('The server does not answer.'), kept, t('Trying again …')))]
    if (state === 'signed-out') {
      const button = h('button', { onClick: () => openSignIn(this.me) }, t('Sign in again'))
      return [h('span', sentences(t('You are signed out.'), kept)), button]
    }
    return [h('span', message), h('button', { onClick: () => location.reload() }, t('Reload'))]
  }

  /** @param {HTMLElement[] | null} content */
  #show(content) {
    this.#storageFull = lasting.refused
    this.strip.hidden = content === null
    document.documentElement.classList.toggle('so-is-away', content !== null)
    if (content) fill(this.strip, content)
  }
}
