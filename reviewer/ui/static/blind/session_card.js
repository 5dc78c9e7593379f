// One session as its coordinator sees it: what it asks, who is how far, what gives texts away, opening and closing.

import { fill, h } from '../common/dom.js'
import { getJSON, newKey, postJSON } from '../common/http.js'
import { openPanel } from '../review/panels.js'

const TONE = { drawn: 'amber', open: 'blue', closed: 'grey' }
const MODE = { scores: 'scores', pairs: 'pairs', both: 'scores and pairs' }
const SHOWN = 40 // finds listed

export class SessionCard {
  /** @param {{onChanged: () => void}} callbacks */
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
          'It has not been opened, so nobody has scored anything. It is kept in the list as given up and has no results.',
        ]
      : [
          'Nothing more can be scored or changed, and it cannot be opened again.',
          left ? `${left} answers are still missing; the results are what there is.` : 'Every answer is there.',
          'The results can be seen from then on, and scorers find the items in Review again.',
        ]
    const sure = await openPanel(given ? `Give up session ${session.id}?` : `Close session ${session.id}?`, (dialog) =>
      h(
        'div',
        {},
        words.map((line) => h('p', {}, line)),
        h(
          'footer',
          {},
          h('button', { type: 'button', onClick: () => dialog.close() }, 'Keep it'),
          h(
            'button.danger',
            {
              type: 'button',
              onClick: () => {
                dialog.result = true
                dialog.close()
              },
            },
            given ? 'Give it up' : 'Close it',
          ),
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
            'You score in this session, so what gives its texts away is not shown to you. Another coordinator can look, or whoever holds the file (spec-o3 blind giveaways).',
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
