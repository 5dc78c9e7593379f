// The status above all tabs: whether changes are saved, who is signed in, page-wide switches, and a strip
// while the server cannot be used.

import { HelpMenu } from '../help/menu.js'
import { lasting, thisTab } from './browser_storage.js'
import { fill, h } from './dom.js'
import { timeWithSeconds } from './format.js'
import { connection, getJSON } from './http.js'
import { Keys } from './keys.js'
import { sentences, t, withCommas, word } from './language.js'

const RETRY_AFTER = 3000 // ms
const FIRST_RETRY_AFTER = 700 // ms; a single failed request is not shown before the second one has failed
const RETURN_TO = 'so-return'

/** The right end of the tab row. */
export class TopBar {
  /** Whether a decision or a version waits to be sent: shown until something is saved. */
  #waiting = false

  /**
   * @param {Person} me
   * @param {{onDark: () => void, onVerdictFirst: () => void, help: import('../help/menu.js').HelpCallbacks}} callbacks
   * @param {boolean} verdictFirst
   */
  constructor(me, callbacks, verdictFirst) {
    this.state = h('span.saved', { role: 'status' })
    this.first = h('button', { type: 'button', onClick: callbacks.onVerdictFirst })
    this.setVerdictFirst(verdictFirst)
    document.querySelector('.so-top')?.remove()
    const bar = h(
      'header.so-top',
      {},
      h('h1', {}, document.title),
      this.state,
      this.#person(me, callbacks.onDark),
      new HelpMenu(me, callbacks.help).root,
    )
    document.body.append(bar)
    // The tabs end where the bar begins.
    const measure = () => document.documentElement.style.setProperty('--so-top-width', `${bar.offsetWidth}px`)
    new ResizeObserver(measure).observe(bar)
    const atWork = t('At work, or waiting for another job to end …') // sheets.css shows it
    document.documentElement.style.setProperty('--so-at-work', JSON.stringify(atWork))
  }

  /**
   * Who is signed in, and the switches of the page: in the bar, or where it is narrow in a sheet below the initials.
   * @param {Person} me @param {() => void} onDark
   */
  #person(me, onDark) {
    const roles = me.rules.solo && !me.has_password ? t('alone') : withCommas(me.roles.map(word))
    const theme = {
      type: 'button',
      title: t('dark or light theme ({key})', { key: Keys.of('dark') }),
      'aria-label': t('Dark or light theme'),
    }
    const sheet = h(
      'div.sheet',
      { id: 'so-person' },
      this.first,
      h('button.theme', { ...theme, onClick: onDark }, '◐'),
      h('span.who', { title: me.name }, `${me.initials} · ${roles}`),
      me.has_password &&
        h('form', { method: 'post', action: '/sign-out' }, h('button', { type: 'submit' }, t('sign out'))),
    )
    const button = h(
      'button.who',
      {
        type: 'button',
        title: t('{name}: roles, theme, verdict first, sign out', { name: me.name }),
        'aria-expanded': 'false',
        'aria-controls': sheet.id,
        onClick: () => open(!sheet.classList.contains('open')),
      },
      `${me.initials} ▾`,
    )
    const open = (/** @type {boolean} */ on) => {
      sheet.classList.toggle('open', on)
      button.setAttribute('aria-expanded', String(on))
    }
    const root = h('div.so-person', {}, button, sheet)
    root.addEventListener('focusout', ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && root.contains(relatedTarget))) open(false)
    })
    root.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !sheet.classList.contains('open')) return
      event.stopPropagation()
      open(false)
      button.focus()
    })
    return root
  }

  /** @param {boolean} on */
  setVerdictFirst(on) {
    this.first.className = on ? 'on' : ''
    this.first.title = t('my verdict first: hide the answer until I have mine ({key})', {
      key: Keys.of('verdict-first'),
    })
    fill(this.first, on ? t('verdict first: on') : t('verdict first: off'))
  }

  /** @param {string} iso */
  saved(iso) {
    this.#waiting = false
    this.state.className = 'saved'
    this.state.title = ''
    this.state.textContent = t('saved {time}', { time: timeWithSeconds(iso) })
  }

  sending() {
    this.#waiting = false
    this.#show(t('sending …'), '')
  }

  /** The server does not have the present text. @param {string} message why */
  notSaved(message) {
    if (!this.#waiting) this.#show(t('not saved yet'), message)
  }

  /** A decision or a version waits for the server. @param {string} message why */
  notSent(message) {
    this.#waiting = true
    this.#show(t('not sent yet'), message)
  }

  /** @param {string} text @param {string} title */
  #show(text, title) {
    this.state.className = 'saved look'
    this.state.textContent = text
    this.state.title = title
  }
}

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

  /** @param {string} initials of the person of this page @param {() => void} onReconnected */
  constructor(initials, onReconnected) {
    this.initials = initials
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
    if (state === 'unreachable' && this.#failures === 1 && before === 'connected') {
      return this.#checkAfter(FIRST_RETRY_AFTER)
    }
    this.#state = state
    if (state === 'connected') {
      if (before === 'connected') return undefined
      clearTimeout(this.#timer)
      this.#show(null)
      return this.onReconnected()
    }
    if (state !== before || lasting.refused !== this.#storageFull) this.#show(this.#content(state, message))
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
    if (state === 'unreachable') {
      return [h('span', {}, sentences(t('The server does not answer.'), kept, t('Trying again …')))]
    }
    if (state === 'signed-out') return [h('span', {}, sentences(t('You are signed out.'), kept)), this.#signIn()]
    return [h('span', {}, message), h('button', { type: 'button', onClick: () => location.reload() }, t('Reload'))]
  }

  /** Sign in in this tab if the text is kept in the browser; otherwise in another tab, so that this page stays open. */
  #signIn() {
    if (lasting.refused) return h('a', { href: '/sign-in', target: '_blank' }, t('Sign in in another tab'))
    const signIn = () => {
      thisTab.set(RETURN_TO, `${this.initials} ${location.hash}`)
      location.assign('/sign-in')
    }
    return h('button', { type: 'button', onClick: signIn }, t('Sign in again'))
  }

  /** @param {HTMLElement[] | null} content */
  #show(content) {
    this.#storageFull = lasting.refused
    this.strip.hidden = content === null
    document.documentElement.classList.toggle('so-is-away', content !== null)
    if (content) fill(this.strip, content)
  }
}

/** Any request reports on `connection` whether the server answers. */
function checkServer() {
  getJSON('/api/v1/me').catch(() => {})
}

/** After signing in again: return to the item shown before. @param {string} initials */
export function restoreItem(initials) {
  const [person, hash] = (thisTab.get(RETURN_TO) ?? '').split(' ')
  thisTab.remove(RETURN_TO)
  if (person === initials && hash && !location.hash) history.replaceState(null, '', hash)
}
