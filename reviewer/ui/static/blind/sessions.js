// The coordinator's page: a form that sets a session up, and the sessions there are. Of what scorers say it knows nothing
// before a session is closed, only how far each has come.

import { SessionCard } from './session_card.js'
import { SetupForm } from './setup.js'
import { fill, h } from '../common/dom.js'
import { getJSON } from '../common/http.js'

const AGAIN_AFTER = 15_000 // ms, while somebody looks

export class BlindSessions {
  /** @param {{onScore: () => void}} callbacks */
  constructor(root, { onScore }) {
    this.root = root
    this.cards = new Map()
    this.said = h('p.note.look', { hidden: true, role: 'alert' })
    this.score = h('button.to-score', { type: 'button', hidden: true, onClick: onScore })
    this.list = h('div.cards')
    this.form = new SetupForm({ onDrawn: (session) => this.#drawn(session) })
    root.classList.add('blind-sessions')
    fill(
      root,
      h(
        'div.columns',
        {},
        h('section.setup', { 'aria-label': 'New session' }, this.form.root),
        h(
          'section.list',
          { 'aria-label': 'Sessions' },
          h('header', {}, h('h2', {}, 'Sessions'), this.score),
          this.said,
          this.list,
        ),
      ),
    )
    setInterval(() => root.getClientRects().length > 0 && !document.hidden && this.#listed(), AGAIN_AFTER)
  }

  /** What this coordinator is asked to score themselves. */
  asked(work) {
    const places = work.flatMap((one) => one.places)
    const left = places.filter((place) => !place.answered).length
    this.score.hidden = !places.length
    this.score.textContent = left ? `You are asked to score: ${left} left` : 'To what you have scored'
  }

  async load() {
    await this.#told(async () => this.form.fill(await getJSON('/api/blind/setup')))
    await this.#listed()
  }

  #listed() {
    return this.#told(async () => this.#draw(await getJSON('/api/blind/sessions')))
  }

  #draw(sessions) {
    for (const session of sessions) {
      const known = this.cards.get(session.id)
      if (known) known.draw(session)
      else this.cards.set(session.id, new SessionCard(session, { onChanged: () => this.#listed() }))
    }
    const wanted = sessions.map(({ id }) => this.cards.get(id).root)
    // Cards that are there stay where they are: one may be read, or have the focus.
    if (wanted.some((card, at) => this.list.children[at] !== card)) fill(this.list, wanted)
    if (!sessions.length)
      fill(
        this.list,
        h('p.muted', {}, 'None yet. Say on the left what is to be compared and who scores, look at the preview, draw.'),
      )
  }

  async #drawn(session) {
    await this.#listed()
    this.cards.get(session.id)?.root.scrollIntoView({ block: 'nearest' })
  }

  async #told(act) {
    try {
      await act()
      this.said.hidden = true
    } catch (error) {
      this.said.hidden = false
      this.said.textContent = error.message
      if (!error.kind) console.error(error)
    }
  }
}
