// The coordinator's page: a form that sets a session up, and the sessions there are. Of what scorers say it knows
// nothing before a session is closed, only how far each has come.

import { fill, h } from '../common/dom.js'
import { getJSON, newKey, postJSON } from '../common/http.js'
import { openPanel } from '../common/panels.js'
import { SetupForm } from './setup.js'

const AGAIN_AFTER = 15_000 // ms, while somebody looks

export class BlindSessions {
  /** @param {HTMLElement} root @param {{onScore: () => void}} options */
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
  setWork(work) {
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

const TONE = { drawn: 'amber', open: 'blue', closed: 'grey' }
const MODE = { scores: 'scores', pairs: 'pairs', both: 'scores and pairs' }
const SHOWN = 40 // finds listed

export class SessionCard {
  /** @param {any} session @param {{onChanged: () => void}} options */
  constructor(session, { onChanged }) {
    this.onChanged = onChanged
    this.key = { open: newKey(), close: newKey() }
    this.head = h('header')
    this.about = h('div.about')
    this.progress = h('div.progress')
    this.found = h('div.found')
    this.said = h('p.note.look', { hidden: true, role: 'alert' })
    this.actions = h('div.verbs')
    this.root = h(
      'article.session',
      { 'data-session': session.id, 'aria-label': `Session ${session.id}` },
      this.head,
      this.about,
      this.progress,
      this.found,
      this.said,
      this.actions,
    )
    this.draw(session)
    if (session.state === 'drawn') this.#giveaways()
  }

  draw(session) {
    const text = JSON.stringify(session)
    if (text === this.drawn) return
    this.drawn = text
    this.session = session
    fill(
      this.head,
      h('strong', {}, `${session.id} · ${session.name}`),
      h(
        `span.pill.${TONE[session.state]}`,
        {},
        session.state === 'closed' && !session.at.opened ? 'given up' : session.state,
      ),
      h('span.muted', {}, whenOf(session)),
    )
    fill(
      this.about,
      h('p.muted', {}, planWords(session)),
      session.notes.map((note) => h('p.note', {}, note)),
    )
    fill(
      this.progress,
      session.progress.map((one) =>
        h(
          'div.scorer',
          {},
          h('span', {}, one.scorer),
          h('div.bar', {}, h('span', { style: `width:${one.asked ? (100 * one.done) / one.asked : 0}%` })),
          h('span.muted', {}, `${one.done} of ${one.asked}`),
        ),
      ),
    )
    if (session.state !== 'drawn') fill(this.found)
    fill(this.actions, this.#verbs())
  }

  #verbs() {
    const { state, id, at } = this.session
    const button = (text, act, kind = '') => h(`button${kind}`, { type: 'button', onClick: act }, text)
    if (state === 'drawn')
      return [
        button('Open for scoring', () => this.#change('open'), '.primary'),
        button('Give it up…', () => this.#close()),
      ]
    if (state === 'open') return [button('Close…', () => this.#close(), '.danger')]
    return at.opened
      ? [
          h('a', { href: `/api/blind/sessions/${id}/report.html`, target: '_blank', rel: 'noopener' }, 'Report'),
          h(
            'a',
            { href: `/api/blind/sessions/${id}/report.zip`, download: '' },
            'Report, tables (CSV) and raw scores as one file',
          ),
        ]
      : []
  }

  async #close() {
    const { session } = this
    const given = session.state === 'drawn'
    const left = session.progress.reduce((sum, one) => sum + one.asked - one.done, 0)
    const words = given
      ? [
          'It has not been opened, so nobody has scored anything. It is kept in the list as given up and has no ' +
            'results.',
        ]
      : [
          'Nothing more can be scored or changed, and it cannot be opened again.',
          left ? `${left} answers are still missing; the results are what there is.` : 'Every answer is there.',
          'The results can be seen from then on, and scorers find the items in Review again.',
        ]
    const sure = await openPanel(given ? `Give up session ${session.id}?` : `Close session ${session.id}?`, (close) =>
      h(
        'div',
        {},
        words.map((line) => h('p', {}, line)),
        h(
          'footer',
          {},
          h('button', { type: 'button', onClick: () => close() }, 'Keep it'),
          h('button.danger', { type: 'button', onClick: () => close(true) }, given ? 'Give it up' : 'Close it'),
        ),
      ),
    )
    if (sure) await this.#change('close')
  }

  async #change(verb) {
    await this.#told(async () =>
      this.draw(await postJSON(`/api/blind/sessions/${this.session.id}/${verb}`, { key: this.key[verb] })),
    )
    this.onChanged()
  }

  /** Which texts tell who wrote them: to be looked at before scorers see them. */
  #giveaways() {
    return this.#told(async () => {
      const { id, mine } = this.session
      if (mine)
        return fill(
          this.found,
          h(
            'p.note',
            {},
            'You score in this session, so what gives its texts away is not shown to you. Another coordinator can ' +
              'look, or whoever holds the file (spec-o3 blind giveaways).',
          ),
        )
      const found = await getJSON(`/api/blind/sessions/${id}/giveaways`)
      if (!found.length)
        return fill(this.found, h('p.note', {}, 'No text tells who wrote it, as far as a list of words knows.'))
      return fill(
        this.found,
        h(
          'details',
          { open: true },
          h(
            'summary.look',
            {},
            found.length === 1 ? 'A text may tell who wrote it' : `${found.length} places may tell who wrote a text`,
          ),
          h('ul.giveaways', {}, found.slice(0, SHOWN).map(giveawayWords)),
          found.length > SHOWN && h('p.muted', {}, `and ${found.length - SHOWN} more (spec-o3 blind giveaways ${id})`),
          h('p.muted', {}, 'Open it as it is, or give it up and draw again with such texts left out.'),
        ),
      )
    })
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

function giveawayWords({ item, source, step, words, kind, sentence }) {
  const at = sentence.indexOf(words)
  return h(
    'li',
    {},
    h('span.muted', {}, `#${item} by ${source}, step ${step} · ${kind}`),
    h('q', {}, sentence.slice(0, at), h('mark', {}, words), sentence.slice(at + words.length)),
  )
}

function planWords({ plan, drawn_by: by }) {
  const some = (list, none) => (list.length ? list.join(', ') : none)
  return [
    MODE[plan.mode],
    plan.items.length
      ? `${plan.items.length} chosen items`
      : `${some(plan.sources, 'every source')}; ${some(plan.tasks, 'every class')}`,
    plan.number && `${plan.number} of each`,
    `${plan.each === 1 ? 'one scorer' : `${plan.each} scorers`} an item`,
    plan.repeats > 0 && `${plan.repeats} ${plan.repeats === 1 ? 'repeat' : 'repeats'} each`,
    plan.gold.length > 0 && `${plan.gold.length} gold`,
    `seed ${plan.seed}`,
    by && `by ${by}`,
  ]
    .filter(Boolean)
    .join(' · ')
}

function whenOf({ at }) {
  const [word, time] = at.closed ? ['closed', at.closed] : at.opened ? ['opened', at.opened] : ['drawn', at.drawn]
  return `${word} ${new Date(time).toLocaleString('sv').slice(0, 16)}`
}
