// The right end of the tab row: when the last change was saved, who one is, and the few page-wide switches.

import { cap, fill, h } from './dom.js'

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
