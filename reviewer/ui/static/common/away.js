// A strip under the tabs while the page has no server to talk to: it does not answer, nobody is signed in any more, or
// somebody else is. It takes room of its own, covers nothing, and goes when it is over.

import { lasting, thisTab } from './browser_storage.js'
import { fill, h } from './dom.js'
import { getJSON, line } from './http.js'

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
