// The Live tab: bench, growing trace, spectrum and bar, and what happens between them.

import { thisTab } from '../common/browser_storage.js'
import { fill, h } from '../common/dom.js'
import { Unreachable, getJSON } from '../common/http.js'
import { drawHeader } from '../common/item_header.js'
import { Keys } from '../common/keys.js'
import { Notices } from '../common/notices.js'
import * as panels from '../common/panels.js'
import { plotlyReady } from '../common/plotly_ready.js'
import { comeBackTo } from '../common/tabs.js'
import { onTheme } from '../common/theme.js'
import { windowOf, windowsOf } from '../trace/steps.js'
import { Asking, LiveActions } from './actions.js'
import { LiveBar, Policies, remember, remembered } from './bar.js'
import { Bench, Bringing } from './bench.js'
import { firstSteps, nothingYet } from './labels.js'
import { Runs, coming } from './runs.js'
import { LiveSpectrum } from './spectrum.js'
import { LiveTrace } from './trace.js'
import { Vote } from './vote.js'

const CHOSEN = 'so-live-bench'

/** Build the tab inside `root`, with the bench and the runs as they are. */
export async function mountLive(root) {
  if (!root || root.dataset.mounted) return
  root.dataset.mounted = 'yes'
  comeBackTo('live', root)
  const [me, keymap] = await Promise.all([getJSON('/api/me'), getJSON('/ui/live/keymap.json'), plotlyReady()])
  const desk = new LiveDesk(root, me, keymap)
  await desk.start()
  window.specO3 = { ...window.specO3, live: desk }
}

class LiveDesk {
  constructor(root, me, keymap) {
    this.root = root
    this.me = me
    this.shownRun = null
    this.sample = 0 // or "vote"
    this.vote = null // where it is shown
    this.opening = 0
    this.inFront = () => root.getClientRects().length > 0
    this.actions = new LiveActions(this)
    this.asking = new Asking(this)
    this.bringing = new Bringing(this)
    this.keys = new Keys(
      keymap,
      (action) => this.actions.act(action),
      () => this.inFront() && !panels.panelIsOpen(),
    )
    this.runs = new Runs({
      onChange: (run) => this.#changed(run),
      onOver: (run) => this.#over(run),
      titleOf: (key) => this.policies.titleOf(key),
    })
    this.#layout()
    setInterval(() => this.inFront() && this.trace.tick(), 200)
    onTheme((theme) => this.spectrum.setTheme(theme))
  }

  #layout() {
    const parts = (this.parts = {
      bench: h('aside.queue'),
      notice: h('div.notice', { hidden: true, role: 'status' }),
      trace: h('div.pane'),
      header: h('header.item'),
      spectrum: h('section.spectrum.absent', { 'aria-label': 'Spectrum' }),
      bar: h('div.decision-bar', { role: 'toolbar', 'aria-label': 'Run' }),
      toasts: h('div.toasts', { role: 'status' }),
    })
    this.notices = new Notices(parts.notice, parts.toasts)
    this.root.classList.add('so-live', 'so-desk')
    fill(
      this.root,
      parts.bench,
      h('div.left', {}, parts.notice, parts.trace),
      h(
        'div.right',
        {},
        parts.header,
        parts.spectrum,
        h('p.nothing', {}, 'Here the spectrum will be: all of it above, the window that the agent looks at below.'),
      ),
      parts.bar,
      parts.toasts,
      h('div.drop-here', {}, 'Drop: the spectra go on your bench'),
    )
    this.bench = new Bench(parts.bench, this.root, {
      onSelect: (id) => this.select(id),
      onRemove: (id) => this.bringing.takeOff(id),
      onAdded: (rows) => this.bringing.added(rows),
      onLibrary: () => this.bringing.fromLibrary(),
      onRunAll: () => this.asking.runAll(),
      statusOf: (row) => this.runs.statusOf(row),
    })
    this.trace = new LiveTrace(parts.trace, {
      keys: this.keys,
      onSelect: (id) => this.choose(id),
      onPicture: panels.openPicture,
      onAgain: () => this.asking.run(),
      onSample: (sample) => this.showSample(sample),
    })
    this.front = new LiveSpectrum(parts.spectrum, (id) => this.choose(id, { scroll: true }))
    this.spectrum = this.front.view
    this.options = remembered()
    this.policies = new Policies({
      looking: () => this.inFront() && !document.hidden,
      onChoose: (policy) => this.#optionsChanged({ policy }),
    })
    this.bar = new LiveBar(
      parts.bar,
      { tasks: this.me.tasks, policies: this.policies, keys: this.keys, options: this.options },
      {
        onPrimary: () => (this.shownRun?.state === 'running' ? this.asking.stop() : this.asking.run()),
        onSend: () => this.asking.send(),
        onOptions: () => this.#optionsChanged({}),
        downloads: () => this.asking.downloads,
      },
    )
  }

  async start() {
    try {
      await this.policies.load(this.options.policy)
      await this.bringing.load()
      const chosen = this.bench.row(thisTab.get(CHOSEN)) ?? this.bench.rows[0]
      if (chosen) await this.select(chosen.id)
      else this.showEmpty()
    } catch (error) {
      this.tell(error)
    }
  }

  // ---- the bench

  /** Put a row's spectrum in front, with its last run. */
  async select(id) {
    const row = this.bench.row(id)
    if (!row) return
    const ticket = ++this.opening
    this.bench.select(id)
    thisTab.set(CHOSEN, id)
    try {
      const run = row.runs.length ? await this.runs.find(row.runs.at(-1)).catch(() => null) : null
      const found = await this.front.fetch(row, run?.task ?? this.options.task)
      if (ticket !== this.opening) return
      this.notice(null)
      this.front.show(found)
      if (run) this.#showRun(run)
      else this.#noRun()
    } catch (error) {
      if (ticket === this.opening) this.tell(error)
    }
  }

  // ---- what is shown

  /** {row, spectrum, …} in front, or null. */
  get current() {
    return this.front.shown
  }

  get shownTrace() {
    return this.shownRun && this.sample !== 'vote' ? this.shownRun.traces[this.sample] : null
  }

  get question() {
    return this.shownRun?.task ?? this.options.task
  }

  showEmpty() {
    this.opening += 1
    this.shownRun = this.vote = null
    this.front.hide()
    this.header = null
    fill(this.parts.header, h('div.who', {}, h('strong.name', {}, 'No spectrum yet')))
    this.trace.showInstead(
      firstSteps({
        onFiles: () => this.bench.choose(),
        onLibrary: () => this.bringing.fromLibrary(),
        onTry: () => this.bringing.tryOne(),
      }),
    )
    this.showBar()
  }

  #noRun() {
    this.shownRun = this.vote = null
    this.#showHeader()
    this.trace.showInstead(
      nothingYet({
        task: this.me.tasks[this.options.task],
        policy: this.policies.chosen,
        keys: this.keys,
        onRun: () => this.asking.run(),
      }),
    )
    this.showBar()
  }

  #showHeader() {
    const { row, spectrum } = this.current
    const drafter = this.shownTrace?.drafter ?? { kind: 'none' }
    const title = this.me.tasks[this.question]?.title ?? this.question
    const key = JSON.stringify([row.id, title, drafter.name])
    if (this.header === key) return
    this.header = key
    drawHeader(this.parts.header, {
      item: { row: { ...row, drafter }, task: { title } },
      spectrum,
      onGuide: () => this.actions.act('guide'),
      toast: (text) => this.toast(text),
    })
  }

  /** A run has begun on the spectrum in front: the same zoom, and the lines of its question. */
  async showBegun(run) {
    const at = this.current
    await this.front.ask(run.task)
    if (at === this.current) this.#showRun(run)
  }

  /** Its vote, if there is one, else its first trace. */
  #showRun(run) {
    this.shownRun = run
    this.showSample(run.samples > 1 && run.consensus ? 'vote' : 0)
  }

  /** Another trace of the run in front, or its vote. */
  showSample(sample) {
    const run = this.shownRun
    this.sample = sample
    this.vote = null
    if (sample === 'vote') this.#showVote(run)
    else this.trace.show(run, sample, this.current.spectrum.medium)
    this.#paintWindows()
    const first = run.state !== 'running' && this.#windows()[0]
    if (first) this.choose(first.id)
    this.#showHeader()
    this.showBar()
  }

  #showVote(run) {
    this.vote = new Vote(run, this.current.spectrum.redshift, {
      onWindow: (id) => this.choose(id),
      onStep: (sample, turn) => this.#showTurn(sample, turn),
    })
    this.trace.showVote(run, this.vote.element)
  }

  /** The step with which a turn of a sample ends. */
  #showTurn(sample, turn) {
    this.showSample(sample)
    const acts = this.shownTrace.steps.filter((step) => step.kind !== 'think')
    const step = acts[turn - 1] ?? this.shownTrace.steps.at(-1)
    if (step) this.choose(step.id, { scroll: true })
  }

  /** Select a step, on its card and on the spectrum; null follows the newest again. */
  choose(id, { scroll = false } = {}) {
    if (this.vote) return id && this.#chooseWindow(id)
    const steps = this.#steps()
    const step = steps.find((one) => one.id === id)
    if (step && step !== steps.at(-1)) this.trace.stay()
    if (step) this.trace.select(id, { scroll })
    if (step && windowOf(step)) this.spectrum.select(id, { zoomTo: true })
    if (id === null) this.#paintWindows()
  }

  #chooseWindow(id) {
    this.spectrum.select(id, { zoomTo: true })
    this.vote.select(id)
  }

  /** What is drawn on the spectrum: where this trace looked, or where the samples did. */
  #windows() {
    return this.vote?.windows ?? windowsOf(this.#steps())
  }

  #steps() {
    const trace = this.shownTrace
    return trace ? [...trace.steps, ...coming(trace, this.current.spectrum.medium)] : []
  }

  #changed(run) {
    if (run !== this.shownRun && !this.bench.rows.some((row) => row.runs.includes(run.id))) return
    this.frame ??= requestAnimationFrame(() => this.#paint())
  }

  #paint() {
    this.frame = null
    this.bench.draw()
    if (!this.shownRun || !this.current) return
    if (this.sample !== 'vote') {
      this.trace.paint()
      this.#paintWindows()
      this.#showHeader()
    }
    this.showBar()
  }

  /** The windows asked for so far; the newest is in front as long as the trace is followed. */
  #paintWindows() {
    const windows = this.#windows()
    const newest = !this.vote && this.trace.following && windows.at(-1)?.id
    const news = this.front.paint(windows, newest || this.spectrum.selected)
    if (news && newest) this.trace.select(newest, { scroll: false })
  }

  showBar() {
    const run = this.shownRun
    const samples = this.asking.sendable
    const sent = run && samples.length && samples.every((sample) => run.sent.has(sample)) ? 'In the queue ✓' : null
    this.bar.draw({ run, row: this.current?.row ?? null, stopping: run?.stopping, sent, sendable: samples.length })
  }

  #over(run) {
    if (run !== this.shownRun) return
    this.#paint()
    if (run.samples > 1 && run.consensus && this.trace.following) this.showSample('vote')
  }

  // ---- telling

  #optionsChanged(change) {
    Object.assign(this.options, change)
    remember(this.options)
    if (!this.current || this.shownRun) return this.showBar()
    this.#noRun()
    this.front.ask(this.options.task).catch((error) => this.tell(error))
  }

  notice(text, action, act, tone = '') {
    this.notices.say(text, action, act, { tone })
  }

  tell(error, before = '') {
    this.notice(
      before +
        (error instanceof Unreachable ? 'The server does not answer. Is it still running? Try again.' : error.message),
    )
    if (!error.kind && !(error instanceof Unreachable)) console.error(error)
  }

  toast = (text) => this.notices.toast(text)
}
