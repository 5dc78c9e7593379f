// The form that sets a blind session up, with a preview of what would be drawn and why not more.

import { fill, h, part } from '../common/dom.js'
import { newKey, postJSON } from '../common/http.js'

export class SetupForm {
  /** @param {{onDrawn: (session: Object) => void}} callbacks */
  constructor({ onDrawn }) {
    this.onDrawn = onDrawn
    this.setup = null
    this.sent = null
    this.preview = h('div.preview', { role: 'status' })
    this.root = h('form.blind-setup', {
      onSubmit: (event) => {
        event.preventDefault()
        this.#draw()
      },
      onInput: () => this.#changed(),
    })
  }

  /** What there is to choose from. A form that somebody has begun to fill in keeps what they chose. */
  fill(setup) {
    const first = this.setup === null
    const same = JSON.stringify(setup) === JSON.stringify(this.setup)
    this.setup = setup
    if (!first && (same || this.begun)) return this.#hands()
    const { people, tasks } = setup
    fill(
      this.root,
      h('h2', {}, 'New session'),
      h(
        'label.field',
        {},
        'Name',
        h('input', {
          name: 'name',
          required: true,
          maxLength: 200,
          placeholder: 'scorers are not told it',
          autocomplete: 'off',
        }),
      ),
      this.#group(
        'Whose traces',
        'none chosen: everybody’s',
        this.#counted('source').map(([key, n]) => check('sources', key, key, `${n} items`)),
      ),
      this.#group(
        'Of which class',
        'none chosen: every class',
        this.#counted('task').map(([key, n]) => check('tasks', key, tasks[key], `${n} items`)),
      ),
      this.#group(
        'What is asked',
        '',
        [
          ['scores', 'scores, 0 to 5'],
          ['pairs', 'pairs: which is better'],
          ['both', 'both'],
        ].map(([key, text], at) =>
          h('label', {}, h('input', { type: 'radio', name: 'mode', value: key, checked: at === 0 }), ' ', text),
        ),
      ),
      h(
        'div.numbers',
        {},
        number('number', 'Of each source and class', {
          placeholder: 'all, equally',
          min: 1,
          title: 'trajectories of each source and class; pairs of each two sources and class',
        }),
        number('each', 'Scorers an item', { value: 2, min: 1 }),
        number('repeats', 'Repeats each', {
          value: 0,
          min: 0,
          title: 'so many of a scorer’s items come back to them later, to compare them with themselves',
        }),
        number('seed', 'Seed', { value: 1, min: 0, title: 'the same seed draws the same session again' }),
      ),
      this.#group(
        'Who scores',
        'whoever had a hand in an item is never asked to score it',
        people.map((one) => check('scorers', one.initials, `${one.initials} · ${one.name}`, '', 'hand')),
      ),
      this.#filter(),
      h(
        'details',
        {},
        h('summary', {}, 'Gold items, with the scores that are expected'),
        h(
          'p.muted',
          {},
          'Hidden among the others, and in no result but their own. One line each: item, coherence, physical ' +
            'consistency, and by how much a scorer may differ (1 if not said); - where none is expected.',
        ),
        h('textarea', {
          name: 'gold',
          rows: 3,
          placeholder: '17 5 4\n23 - 0 2',
          'aria-label': 'Gold items',
          spellcheck: false,
        }),
      ),
      this.#group(
        'Texts that tell who wrote them',
        '',
        [
          ['flag', 'draw them, and show me where'],
          ['leave out', 'leave them out'],
        ].map(([key, text], at) =>
          h('label', {}, h('input', { type: 'radio', name: 'giveaways', value: key, checked: at === 0 }), ' ', text),
        ),
      ),
      h(
        'div.verbs',
        {},
        h('button', { type: 'button', onClick: () => this.#preview() }, 'Preview'),
        h('button.primary', { type: 'submit' }, 'Draw'),
      ),
      this.preview,
    )
    this.#hands()
  }

  #filter() {
    const { states, survey, batch } = this.setup.filter
    const choose = (name, label, values) =>
      h(
        'label',
        {},
        label,
        h(
          'select',
          { name },
          h('option', { value: '' }, 'any'),
          values.map(([value, text]) => h('option', { value }, text)),
        ),
      )
    return h(
      'details',
      {},
      h('summary', {}, 'Only some of the items'),
      h(
        'div.numbers',
        {},
        choose(
          'state',
          'State',
          states.map((one) => [one, one]),
        ),
        choose(
          'survey',
          'Survey',
          survey.map((one) => [one, one]),
        ),
        choose(
          'batch',
          'Batch',
          batch.map((one) => [one, one]),
        ),
        number('snr_min', 'S/N from', { step: 'any' }),
        number('snr_max', 'S/N to', { step: 'any' }),
        choose('simulated', 'Simulated', [
          ['true', 'only simulated'],
          ['false', 'only observed'],
        ]),
        choose('disagreement', 'Disagreement', [
          ['true', 'only with'],
          ['false', 'only without'],
        ]),
      ),
      h(
        'label.field',
        {},
        'Or exactly these items, by number',
        h('input', { name: 'items', placeholder: '12, 15, 18', inputMode: 'numeric', autocomplete: 'off' }),
      ),
    )
  }

  #group(title, hint, choices) {
    return h(
      'fieldset',
      {},
      h('legend', {}, title, hint && h('span.muted', {}, ` · ${hint}`)),
      h('div.choices', {}, choices.length ? choices : h('span.muted', {}, 'nothing here yet')),
    )
  }

  #counted(what) {
    const counts = new Map()
    for (const stratum of this.setup.strata) counts.set(stratum[what], (counts.get(stratum[what]) ?? 0) + stratum.items)
    return [...counts]
  }

  /** Beside each scorer: of how many of the chosen items they may not be asked. */
  #hands() {
    const chosen = (name) =>
      [.../** @type {NodeListOf<HTMLInputElement>} */ (this.root.querySelectorAll(`[name=${name}]:checked`))].map(
        (input) => input.value,
      )
    const [sources, tasks] = [chosen('sources'), chosen('tasks')]
    const strata = this.setup.strata.filter(
      (one) => (!sources.length || sources.includes(one.source)) && (!tasks.length || tasks.includes(one.task)),
    )
    const sum = (of) => strata.reduce((total, one) => total + of(one), 0)
    for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (this.root.querySelectorAll('[name=scorers]'))) {
      const barred = sum((one) => one.barred[input.value] ?? 0)
      part(/** @type {HTMLElement} */ (input.parentElement), '.hand').textContent = barred
        ? `had a hand in ${barred} of ${sum((one) => one.items)}`
        : 'may see all'
    }
  }

  #changed() {
    this.begun = true
    this.#hands()
    this.preview.classList.add('old')
  }

  /** The plan as the server takes it, or null where a field cannot be read; the sentence is on the page. */
  #plan() {
    try {
      return planOf(new FormData(this.root))
    } catch (error) {
      this.#refused(error)
      return null
    }
  }

  async #preview() {
    const plan = this.#plan()
    if (!plan) return
    try {
      const made = await postJSON('/api/blind/preview', { plan: { ...plan, name: plan.name || 'preview' } })
      this.preview.classList.remove('old')
      fill(this.preview, previewWords(made, this.setup.tasks))
    } catch (error) {
      this.#refused(error)
    }
  }

  async #draw() {
    const plan = this.#plan()
    if (!plan) return
    const text = JSON.stringify(plan)
    if (this.sent?.text !== text) this.sent = { text, key: newKey() }
    try {
      const session = await postJSON('/api/blind/sessions', { plan, key: this.sent.key })
      this.sent = null
      this.preview.classList.remove('old')
      fill(
        this.preview,
        h('p.note', {}, `Session ${session.id} is drawn. Look at what may give its texts away, then open it.`),
      )
      this.onDrawn(session)
    } catch (error) {
      this.#refused(error)
    }
  }

  #refused(error) {
    this.preview.classList.remove('old')
    fill(this.preview, h('p.note.look', { role: 'alert' }, error.message))
    if (!error.kind && !error.forPerson) console.error(error)
  }
}

const check = (name, value, text, count, more = '') =>
  h(
    'label',
    {},
    h('input', { type: 'checkbox', name, value }),
    ' ',
    text,
    ' ',
    h(`span.muted${more ? `.${more}` : ''}`, {}, count),
  )

const number = (name, label, props) =>
  h('label', { title: props.title }, label, h('input', { ...props, name, type: 'number' }))

function previewWords({ scores, pairs, gold, scorers, notes }, tasks) {
  const rows = (kind, table) =>
    table.map((one) =>
      h(
        'tr',
        {},
        h('td', {}, kind),
        h('td', {}, one.source),
        h('td', {}, tasks[one.task] ?? one.task),
        h('td.n', {}, String(one.number)),
      ),
    )
  return [
    h('h3', {}, 'What would be drawn'),
    h(
      'table',
      {},
      h(
        'tbody',
        {},
        rows('scored', scores),
        rows('pairs', pairs),
        gold > 0 && h('tr', {}, h('td', {}, 'gold'), h('td'), h('td'), h('td.n', {}, String(gold))),
      ),
    ),
    h(
      'p',
      {},
      scorers.map((one, at) => [at > 0 && ' · ', h('strong', {}, one.initials), ` is asked ${one.asked}`]),
    ),
    notes.map((note) => h('p.note', {}, note)),
    scorers.some((one) => one.barred) &&
      h(
        'p.muted',
        {},
        scorers
          .filter((one) => one.barred)
          .map((one) => `${one.initials} had a hand in ${one.barred}`)
          .join(', '),
        ': not asked of them.',
      ),
  ]
}

/** A field that cannot be read; the sentence is for the person. */
class Unreadable extends Error {
  forPerson = true
}

/** @param {FormData} data */
export function planOf(data) {
  const text = (name) => String(data.get(name) ?? '').trim()
  const numeric = (/** @type {string} */ name) => (text(name) === '' ? undefined : Number(text(name)))
  const flag = (name) => (text(name) === '' ? undefined : text(name) === 'true')
  const some = (name) => (text(name) === '' ? undefined : text(name))
  const filter = {
    states: some('state') && [text('state')],
    survey: some('survey'),
    batch: some('batch'),
    snr_min: numeric('snr_min'),
    snr_max: numeric('snr_max'),
    simulated: flag('simulated'),
    disagreement: flag('disagreement'),
  }
  const plan = {
    name: text('name'),
    mode: text('mode'),
    sources: data.getAll('sources'),
    tasks: data.getAll('tasks'),
    scorers: data.getAll('scorers'),
    number: numeric('number'),
    each: numeric('each'),
    repeats: numeric('repeats'),
    seed: numeric('seed'),
    giveaways: text('giveaways'),
    items: itemsOf(text('items')),
    gold: goldOf(text('gold')),
  }
  const asked = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
  return Object.keys(asked).length ? { ...plan, filter: asked } : plan
}

function itemsOf(text) {
  return text
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map((word) => whole(word.replace(/^#/, ''), 'Items', word))
}

/** One item a line: "17 5 4", "23 - 0 2". */
function goldOf(text) {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const words = line.split(/[\s,;]+/)
      if (words.length < 2 || words.length > 4)
        throw new Unreadable(
          `Gold items: found “${line}”, expected an item, coherence, physical consistency and a tolerance, such as ` +
            '17 5 4 1.',
        )
      const [item, coherence, consistency = null, tolerance = 1] = words.map((word, at) =>
        word === '-' && at > 0 ? null : whole(word.replace(/^#/, ''), 'Gold items', line),
      )
      return { item, coherence, consistency, tolerance }
    })
}

function whole(word, where, found) {
  if (!/^\d+$/.test(word)) throw new Unreadable(`${where}: found “${found}”, expected whole numbers.`)
  return Number(word)
}
