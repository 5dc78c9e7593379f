// The bar of the Live tab: task, policy, samples and settings of the next run; run and stop; send and download.

import { lasting } from '../common/browser_storage.js'
import { cap, fill, h, withCommands } from '../common/dom.js'
import { getJSON } from '../common/http.js'
import { t, tn, withParts } from '../common/language.js'
import { sheetOf } from '../common/popover.js'

const FIRST_QUESTION = 'cv' // until another is chosen

/** A button with its sheet. @param {HTMLButtonElement} button @param {string} label @param {() => any} content */
const withSheet = (button, label, content) => h('span.menu', button, sheetOf(button, 'div.sheet', label, content))

export class LiveBar {
  #drawn = ''

  /**
   * @param {{tasks: Record<string, TaskText>, policies: Policies, keys: import('../common/keys.js').Keys,
   *   options: RunOptions}} parts `options` is changed in place
   * @param {{onPrimary: () => void, onSend: () => void, onOptions: () => void,
   *   downloads: () => {text: string, format?: string, url: string}[]}} callbacks
   * @param {HTMLElement} benchButton opens the bench where it is not on the page; stands first
   */
  constructor({ tasks, policies, keys, options }, callbacks, benchButton) {
    this.on = callbacks
    this.keys = keys
    this.options = options
    this.policies = policies
    this.primary = h('button.primary.run', { onClick: () => this.on.onPrimary() })
    this.task = h(
      'select',
      { 'aria-label': t('Question'), onChange: () => this.#changed({ task: this.task.value }) },
      Object.entries(tasks).map(([value, { title }]) => h('option', { value }, title)),
    )
    if (!(options.task in tasks)) options.task = FIRST_QUESTION in tasks ? FIRST_QUESTION : Object.keys(tasks)[0]
    const range = { type: 'number', min: 1, max: 16, 'aria-label': t('Samples') }
    this.samples = h('input.samples', { ...range, onChange: () => this.#samplesChanged() })
    this.manyWord = h('span')
    this.many = h('label.many', this.samples, ' ', this.manyWord)
    this.settings = h('button.settings', { title: t('temperature, seed, limits'), 'aria-label': t('Settings') })
    this.send = h('button.send', { onClick: () => this.on.onSend() })
    this.load = h('button.download', t('Download ▾'))
    const settings = withSheet(this.settings, t('Settings of a run'), () => this.#fields())
    const downloads = withSheet(this.load, t('Downloads'), () => this.on.downloads().map(download))
    this.root = h(
      'div.decision-bar',
      { role: 'toolbar', 'aria-label': t('Run') },
      ...[benchButton, this.primary, this.task, policies.root, this.many, settings, this.send, downloads],
    )
    for (const select of this.root.querySelectorAll('select')) {
      // Chosen with the mouse, a list gives up the focus; a person who uses the keyboard stays in it.
      select.addEventListener('change', () => select.matches(':focus-visible') || select.blur())
    }
    this.draw({ run: null, row: null })
  }

  /** @param {string} key */
  setTask(key) {
    this.options.task = this.task.value = key
    this.on.onOptions()
  }

  /**
   * @param {{run: Run | null, row: BenchRow | null, running?: Run | null, sent?: string | null, sendable?: number,
   *   name?: string}} state `running`: the run in progress on the row, which may not be the one shown; `name`: of the
   *   run shown; `sent`: the label if the samples have been sent already; `sendable`: how many can be sent
   */
  draw({ run, row, running = null, sent = null, sendable = 0, name = '' }) {
    const { keys, options, policies, prompt } = this
    const stopping = running?.stopping ?? false
    const shown = [run?.id, running?.id, row?.id, name, stopping, sent, sendable]
    const key = JSON.stringify([...shown, options, policies.chosen, prompt])
    if (key === this.#drawn) return
    this.#drawn = key
    this.primary.disabled = (!row && !running) || stopping
    this.primary.classList.toggle('stop', running !== null)
    if (stopping) fill(this.primary, t('Stopping …'))
    else if (running) fill(this.primary, t('Stop'), ' ', cap(keys.of('stop')))
    else fill(this.primary, run ? t('Again') : t('Run'), ' ', cap(keys.of('run')))
    this.task.value = options.task
    this.task.title = this.task.selectedOptions[0]?.textContent ?? ''
    this.samples.value = String(this.runSettings.samples)
    this.samples.disabled = policies.deterministic
    this.many.title = policies.deterministic
      ? t('This policy gives the same answer each time: one sample is enough.')
      : t('independent samples of the same spectrum, for a vote (1 to 16)')
    fill(this.manyWord, tn('sample', 'samples', this.runSettings.samples))
    fill(this.settings, '⚙', h('span', settingsText(options.settings, prompt)))
    this.send.disabled = sent !== null || sendable === 0
    const send = sendable > 1 ? t('Send all {sendable} to review', { sendable }) : t('Send to review')
    fill(this.send, sent ?? [send, ' ', cap(keys.of('send'))])
    this.load.disabled = !run && !row
    this.send.title = this.load.title = run ? t('of the run shown: {run}', { run: name }) : ''
  }

  /** The settings of the next run. @returns {RunSettings} */
  get runSettings() {
    const { policies, prompt } = this
    const { task, samples, settings } = this.options
    const policy = policies.chosen?.key ?? ''
    return { task, policy, prompt, samples: policies.deterministic ? 1 : samples, ...settings }
  }

  /**
   * The prompt of the next run: the person's choice, or the policy's default. Only an imported prompt can be "trained".
   * @returns {'trained' | 'ours'}
   */
  get prompt() {
    if (this.policies.trainedPrompt(this.options.task) === undefined) return 'ours'
    return this.options.prompt ?? (this.policies.chosen?.checkpoint ? 'trained' : 'ours')
  }

  #fields() {
    const imported = this.policies.trainedPrompt(this.options.task) !== undefined
    const select = h(
      'select',
      { 'aria-label': t('Prompt'), onChange: () => this.#changed({ prompt: select.value }) },
      h('option', { value: 'trained', disabled: !imported }, t('as trained')),
      h('option', { value: 'ours' }, t('ours')),
    )
    select.value = this.prompt
    return h(
      'div.fields',
      h('h3', t('An empty field means the default')),
      SETTINGS.map((setting, at) => this.#field(setting, at === 0)),
      h('label', { title: t('question and diagnostic guide that the model reads') }, h('span', t('Prompt')), select),
      h('p.muted', imported ? PROMPT_MEANING : this.policies.prompts.problem || notImported()),
    )
  }

  /** @param {typeof SETTINGS[number]} setting @param {boolean} autofocus */
  #field({ name, label, title, read = Number, ...props }, autofocus) {
    const { settings } = this.options
    const onChange = (/** @type {any} */ { target }) => {
      const value = target.value !== '' && target.checkValidity() ? read(target.value) : undefined
      target.setAttribute('aria-invalid', String(target.value !== '' && value === undefined))
      if (value === undefined) delete settings[name]
      else settings[name] = value
      this.#changed({})
    }
    const set = settings[name] ?? ''
    const value = typeof set === 'object' ? JSON.stringify(set) : set
    return h('label', { title }, h('span', label), h('input', { type: 'number', ...props, value, autofocus, onChange }))
  }

  #samplesChanged() {
    const typed = Math.round(Number(this.samples.value))
    this.#changed({ samples: Number.isFinite(typed) ? Math.max(1, Math.min(16, typed)) : 1 })
  }

  #changed(change) {
    Object.assign(this.options, change)
    this.on.onOptions()
  }
}

const STORED = 'so-live-options'

/** The options chosen last. @returns {RunOptions} */
export const remembered = () => ({ samples: 1, settings: {}, ...lasting.read(STORED) })

export const remember = (/** @type {RunOptions} */ options) => lasting.set(STORED, JSON.stringify(options))

const PROMPT_MEANING = t(
  'As trained: the prompt in SpecVI-Bench, on which the published checkpoints were trained; their default. ' +
    'Ours: the guide of the task file; the default of every other policy.',
)
const notImported = () =>
  withParts(
    t(
      'The prompt on which the published checkpoints were trained is not imported for this question: run {command}, ' +
        'then load this page again.',
    ),
    { command: h('code.command', 'spec-o3 tasks import SpecVI-Bench/data') },
  )

/**
 * The settings of a run; the placeholder says what an empty field means. `read`: of its text, if it is no number.
 * @type {{name: string, label: string, title: string, read?: (text: string) => any, [prop: string]: any}[]}
 */
const SETTINGS = [
  {
    ...{ name: 'temperature', label: t('Temperature'), title: t('0 takes the most likely token each time') },
    ...{ min: 0, max: 2, step: 0.1, placeholder: t('default; 1 for several') },
  },
  {
    ...{ name: 'seed', label: t('Seed'), min: 0, max: 2 ** 31 - 1, placeholder: t('chosen by the server') },
    title: t('the same seed, model and server give the same answer; sample 2 has the next seed'),
  },
  {
    ...{ name: 'max_tokens', label: t('Tokens per turn'), min: 1, max: 100_000, placeholder: t('default') },
    title: t('a turn ends after this many tokens'),
  },
  {
    ...{ name: 'max_turns', label: t('Turn limit'), min: 1, max: 32, placeholder: '8' },
    title: t('turns of the agent; the tool call of the last one is not run'),
  },
  {
    ...{ name: 'reasoning_effort', label: t('Reasoning effort'), type: 'text', pattern: '[a-z]{1,20}', read: String },
    placeholder: t('default'),
    title: t('none, minimal, low, medium, high …: for a model of a server that reasons before it writes'),
  },
  {
    ...{ name: 'extra_body', label: t('Further fields'), type: 'text', placeholder: t('a JSON object') },
    title: t('fields of each request to a server, as JSON'),
    read: objectIn,
  },
]

/** The JSON object in a text; undefined if it is anything else. @param {string} text */
function objectIn(text) {
  try {
    const value = JSON.parse(text)
    return value && typeof value === 'object' && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** What is not left to the server, e.g. "T 0.7 · 12 turns · prompt as trained". */
function settingsText(/** @type {any} */ settings, prompt) {
  const {
    temperature,
    seed,
    max_tokens: tokens,
    max_turns: turns,
    reasoning_effort: effort,
    extra_body: more,
  } = settings
  const parts = [
    temperature !== undefined && `T ${temperature}`,
    seed !== undefined && t('seed {seed}', { seed }),
    tokens !== undefined && tn('{n} token', '{n} tokens', tokens),
    turns !== undefined && tn('{n} turn', '{n} turns', turns),
    effort !== undefined && t('effort {effort}', { effort }),
    more !== undefined && t('further fields'),
    prompt === 'trained' && t('prompt as trained'),
  ]
  return parts.filter(Boolean).join(' · ')
}

/** A link of the sheet of downloads, which it closes. */
function download(/** @type {any} */ { text, format, url }, /** @type {number} */ at) {
  const onClick = (/** @type {any} */ { target }) => target.closest('[popover]').hidePopover()
  const props = { href: url, download: '', autofocus: at === 0, onClick }
  return h('a.option', props, text, format && h('span.muted', format))
}

const CHECK_EVERY = 10_000 // ms

/** The choice of a policy, and the health of its server, checked while the tab is visible. */
export class Policies {
  /** @type {LivePolicy[]} */
  #all = []
  /** @type {{trained: Record<string, string>, problem: string}} `problem`: why the imported ones cannot be read */
  prompts = { trained: {}, problem: '' }
  /** @type {any} */
  #health = null
  #drawn = ''

  /** @param {{isVisible: () => boolean, onChoose: (key: string) => void}} options whether the tab is visible */
  constructor({ isVisible, onChoose }) {
    this.select = h('select', {
      'aria-label': t('Policy'),
      onChange: () => {
        this.#health = null
        this.#draw()
        this.#check()
        onChoose(this.select.value)
      },
    })
    this.words = h('button.health')
    this.sheet = sheetOf(this.words, 'div.sheet', t('The server'), () => this.#facts())
    this.root = h('span.policy', this.select, h('span.menu', this.words, this.sheet))
    setInterval(() => isVisible() && this.#check(), CHECK_EVERY)
  }

  /** @param {string} [policy] the key to choose, if there is such a policy */
  async load(policy) {
    ;[this.#all, this.prompts] = await Promise.all([getJSON('/api/v1/live/policies'), getJSON('/api/v1/live/prompts')])
    fill(
      this.select,
      this.#all.map(({ key, title }) => h('option', { value: key }, title)),
    )
    this.select.value = (this.#all.find(({ key }) => key === policy) ?? this.#all[0]).key
    this.#draw()
    this.#check()
  }

  /** The imported prompt of a task; undefined where there is none. @param {string} task */
  trainedPrompt = (task) => this.prompts.trained[task]

  get chosen() {
    return this.#all.find(({ key }) => key === this.select.value) ?? null
  }

  /** Whether the chosen policy gives the same answer each time. */
  get deterministic() {
    return this.chosen?.samples_ok === false
  }

  /** @param {string} key */
  titleOf = (key) => this.#all.find((policy) => policy.key === key)?.title ?? key

  async #check() {
    const policy = this.select.value
    if (!policy) return
    const health = await getJSON(`/api/v1/live/health?${new URLSearchParams({ policy })}`).catch(({ message }) => ({
      ok: false,
      sentence: t('The state of the server is unknown: {message}', { message }),
    }))
    if (policy !== this.select.value) return
    this.#health = health
    this.#draw()
  }

  #draw() {
    this.select.title = this.chosen?.note || t('the policy')
    const health = this.#health
    const key = JSON.stringify(health)
    if (key === this.#drawn) return
    this.#drawn = key
    this.words.className = `health ${health === null ? 'unknown' : health.ok ? 'well' : 'ill'}`
    this.words.title = health?.sentence ?? ''
    fill(this.words, h('span.dot'), h('span.words', healthText(health)))
    if (this.sheet.matches(':popover-open')) fill(this.sheet, this.#facts())
  }

  #facts() {
    const health = this.#health
    if (!health) return [h('p', t('Checking …'))]
    const rows = [
      [t('model'), health.model],
      [t('server'), health.server],
      [t('version'), health.version],
      [t('context'), health.context && tn('{n} token', '{n} tokens', health.context)],
      [t('running'), health.running],
      [t('waiting'), health.waiting],
    ].filter(([, value]) => (value ?? '') !== '')
    return [
      h(`p${health.ok ? '' : '.bad'}`, withCommands(health.sentence)),
      h('dl', ...rows.map(([name, value]) => [h('dt', name), h('dd', String(value))])),
      this.chosen?.note && h('p.muted', this.chosen.note),
    ]
  }
}

/** Which model on which server and how busy it is, or what to do if it does not work. @param {any} health */
function healthText(health) {
  if (health === null) return t('checking …')
  if (!health.ok) return withCommands(health.sentence)
  const { running, waiting } = health
  const busy =
    running || waiting
      ? t('{running} running, {waiting} waiting', { running: running ?? 0, waiting: waiting ?? 0 })
      : ''
  const server = [health.server, health.version].filter(Boolean).join(' ')
  return [health.model, server, busy].filter(Boolean).join(' · ') || health.sentence
}
