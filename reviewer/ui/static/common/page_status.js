// The right end of the tab row: when the last change was saved, who one is, and the few page-wide switches.

import { lasting, thisTab } from './browser_storage.js'
import { cap, fill, h } from './dom.js'
import { getJSON, line } from './http.js'

export class TopBar {
  /** @param {{onKeys, onDark, onVerdictFirst}} callbacks */
  constructor(me, callbacks, verdictFirst) {
    this.state = h('span.saved', { role: 'status' })
    this.first = h('button', { type: 'button', onClick: callbacks.onVerdictFirst })
    this.setVerdictFirst(verdictFirst)
    const roles = me.rules.solo ? 'alone' : me.roles.join(', ')
    document.querySelector('.so-top')?.remove()
    document.body.append(
      h(
        'div.so-top',
        {},
        this.state,
        this.first,
        h('button', { type: 'button', title: 'dark or light (D)', onClick: callbacks.onDark }, '◐'),
        h('span.who', { title: me.name }, `${me.initials} · ${roles}`),
        me.has_password &&
          h('form', { method: 'post', action: '/sign-out' }, h('button', { type: 'submit' }, 'sign out')),
        h('button', { type: 'button', title: 'all keys', onClick: callbacks.onKeys }, cap('?')),
      ),
    )
  }

  setVerdictFirst(on) {
    this.first.className = on ? 'on' : ''
    this.first.title = 'my verdict first: hide the answer until I have mine (p)'
    fill(this.first, on ? 'verdict first: on' : 'verdict first: off')
  }

  saved(iso) {
    this.notSent = false
    this.state.className = 'saved'
    this.state.title = ''
    this.state.textContent = `saved ${new Date(iso).toLocaleTimeString('sv')}`
  }

  sending() {
    this.notSent = false
    this.#look('sending …', '')
  }

  /** Unsent text that the server does not have. Where something was to be sent and was not, that is said, until it is saved. */
  unsaved(message) {
    if (!this.notSent) this.#look('not saved yet', message)
  }

  /** A decision or a version that waits for the server. */
  unsent(message) {
    this.notSent = true
    this.#look('not sent yet', message)
  }

  #look(text, title) {
    this.state.className = 'saved look'
    this.state.textContent = text
    this.state.title = title
  }
}

const LOOK_AGAIN = 3000 // ms
const SOON = 700 // a single call that failed is not told before a second one has
const RETURN_TO = 'so-return'

export class Away {
  /** @param {string} who  whose page it is  @param {() => void} onBack  the server answers this person again */
  constructor(who, onBack) {
    this.who = who
    this.onBack = onBack
    this.state = 'heard'
    this.failed = 0
    this.strip = h('div.so-away', { role: 'status', hidden: true })
    document.body.append(this.strip)
    line.addEventListener('became', ({ detail }) => this.#became(detail))
    document.addEventListener('visibilitychange', () => document.hidden || this.state === 'heard' || this.#look())
    addEventListener('focus', () => this.state === 'heard' || this.#look())
  }

  #became({ state, message }) {
    this.failed = state === 'unreachable' ? this.failed + 1 : 0
    if (state === 'unreachable' && this.failed === 1 && this.state === 'heard') return this.#again(SOON)
    const before = this.state
    this.state = state
    if (state === 'heard') {
      if (before === 'heard') return undefined
      clearTimeout(this.timer)
      this.#show(null)
      return this.onBack()
    }
    if (state !== before || lasting.refused !== this.refused) this.#show(this.#told(state, message))
    return this.#again(LOOK_AGAIN)
  }

  #again(after) {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.#look(), after)
  }

  #look() {
    getJSON('/api/me').catch(() => {}) // what became of it is told by `line`
  }

  #told(state, message) {
    const kept = lasting.refused
      ? 'This browser keeps no copy of it (its storage is full or forbidden): leave this page open.'
      : 'What you write is kept in this browser.'
    if (state === 'unreachable') return [h('span', {}, `The server does not answer. ${kept} Trying again …`)]
    if (state === 'signed-out') return [h('span', {}, `You are signed out. ${kept}`), this.#signIn()]
    return [h('span', {}, message), h('button', { type: 'button', onClick: () => location.reload() }, 'Reload')]
  }

  /** In this tab where the text is kept in the browser; else in another one, so that this page lives on. */
  #signIn() {
    if (lasting.refused) return h('a', { href: '/sign-in', target: '_blank' }, 'Sign in in another tab')
    return h(
      'button',
      {
        type: 'button',
        onClick: () => {
          thisTab.set(RETURN_TO, `${this.who} ${location.hash}`)
          location.assign('/sign-in')
        },
      },
      'Sign in again',
    )
  }

  #show(content) {
    this.refused = lasting.refused
    this.strip.hidden = content === null
    document.documentElement.classList.toggle('so-is-away', content !== null)
    if (content) fill(this.strip, content)
  }
}

/** After signing in again, the item that was in front. */
export function comeBackToItem(who) {
  const [whose, hash] = (thisTab.get(RETURN_TO) ?? '').split(' ')
  thisTab.remove(RETURN_TO)
  if (whose === who && hash && !location.hash) history.replaceState(null, '', hash)
}
