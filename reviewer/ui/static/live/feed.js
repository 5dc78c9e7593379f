// Hearing a run's events, also after the connection was lost: none is missed and none is taken twice.

import { Refused, getJSON } from '../common/http.js'
import { pause } from '../common/idle.js'

export class Feed {
  /**
   * @param {string} run
   * @param {{onEvent: (event: Object, number: number) => void, onLost: () => void, onFound: () => void, onGone: (error: Error) => void}} callbacks
   */
  constructor(run, callbacks) {
    this.run = run
    this.on = callbacks
    this.heard = 0
    this.#open()
  }

  close() {
    this.closed = true
    this.source.close()
  }

  #open() {
    this.source = new EventSource(`/api/live/runs/${this.run}/events?after=${this.heard}`)
    this.source.addEventListener('open', () => this.on.onFound())
    this.source.addEventListener('error', () => this.#lost())
    this.source.addEventListener('message', (message) => this.#message(message))
  }

  #message({ data, lastEventId }) {
    const event = JSON.parse(data)
    this.heard = Number(lastEventId)
    this.on.onEvent(event, this.heard)
    if (event.kind === 'over') this.close()
  }

  /** The browser tries again by itself, unless the server answered with an error: then we ask what it is. */
  async #lost() {
    if (this.closed) return
    this.on.onLost()
    if (this.source.readyState !== EventSource.CLOSED) return
    try {
      await pause(1500)
      await getJSON(`/api/live/runs/${this.run}`)
    } catch (error) {
      if (error instanceof Refused && error.status === 404) {
        this.closed = true
        this.on.onGone(error)
        return
      }
    }
    if (!this.closed) this.#open()
  }
}
