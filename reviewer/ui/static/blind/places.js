// The left side of the scoring page: how far one is, and every place by number. Numbers are the scorer's own order.

import { fill, h } from '../common/dom.js'

export class Places {
  /** @param {{onOpen: (token: string) => void, onSession: (at: number) => void, onSessions: (() => void) | null}} callbacks */
  constructor(root, callbacks) {
    this.root = root
    this.on = callbacks
  }

  /** @param {Object[]} work  sessions as the server lists them; `at`: the one shown; `token`: the place in front */
  draw(work, at, token) {
    const session = work[at]
    const { places } = session
    const done = places.filter((place) => place.answered).length
    fill(
      this.root,
      h(
        'div.queue-title',
        {},
        h('div.top', {}, h('strong', {}, 'Blind scoring')),
        work.length > 1 &&
          h(
            'select.which',
            { 'aria-label': 'Session', onChange: (event) => this.on.onSession(Number(event.target.value)) },
            work.map((one, index) => h('option', { value: index, selected: index === at }, `Session ${one.session}`)),
          ),
        h(
          'div.bar',
          { role: 'progressbar', 'aria-valuenow': done, 'aria-valuemax': places.length, 'aria-label': 'answered' },
          h('span', { style: `width:${(100 * done) / places.length}%` }),
        ),
        h('div.muted.done', {}, `${done} of ${places.length} answered`),
      ),
      h(
        'div.rows.places',
        {},
        ['scores', 'pair'].map((kind) => this.#group(kind, places, token)),
      ),
      this.on.onSessions && h('button.to-sessions', { type: 'button', onClick: this.on.onSessions }, 'Set up sessions'),
    )
    this.root.querySelector('.current')?.scrollIntoView({ block: 'nearest' })
  }

  #group(kind, places, token) {
    const ofKind = places.filter((place) => place.kind === kind)
    if (!ofKind.length) return null
    return [
      h('h3', {}, kind === 'pair' ? 'Which is better' : 'Score'),
      h(
        'div.grid',
        {},
        ofKind.map((place) =>
          h(
            `button.place${place.answered ? '.answered' : ''}${place.token === token ? '.current' : ''}`,
            {
              type: 'button',
              'aria-label': `${place.place}${place.answered ? ', answered' : ''}`,
              'aria-current': String(place.token === token),
              onClick: () => this.on.onOpen(place.token),
            },
            String(place.place),
          ),
        ),
      ),
    ]
  }
}
