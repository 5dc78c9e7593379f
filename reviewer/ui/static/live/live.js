// The Live tab: builds the bench, the run view and the bar, and connects them.

import { thisTab } from '../common/browser_storage.js'
import { fill, h } from '../common/dom.js'
import { Refused, getJSON } from '../common/http.js'
import { Keys } from '../common/keys.js'
import { t, tn } from '../common/language.js'
import { Notices } from '../common/notices.js'
import { guideOf, panelIsOpen } from '../common/panels.js'
import { plotlyReady } from '../common/plotly_ready.js'
import { SidePane } from '../common/side_pane.js'
import { whenBack } from '../common/tabs.js'
import { onTheme } from '../common/theme.js'
import { RunControls, liveActions } from './actions.js'
import { LiveBar, Policies, remember, remembered } from './bar.js'
import { AddSpectra, Bench } from './bench.js'
import { policyLabel, standing } from './labels.js'
import { RunView } from './run_view.js'
import { Runs } from './runs.js'

const CHOSEN = 'so-live-bench'
const SHOWN_RUN = 'so-live-run'

/** Build the tab inside `root`, with the bench and the runs as they are. @param {HTMLElement | null} root */
export async function mountLive(root) {
  if (!root || root.dataset.mounted) return
  root.dataset.mounted = 'yes'
  const [me, keymap] = await Promise.all([getJSON('/api/v1/me'), getJSON('/ui/live/keymap.json'), plotlyReady()])
  const page = buildLive(root, me, keymap)
  await page.start()
  window.specO3 = { ...window.specO3, live: page.handle }
}

/** @param {HTMLElement} root @param {Person} me @param {Keymap} keymap */
function buildLive(root, me, keymap) {
  const { tasks } = me
  const inFront = () => root.getClientRects().length > 0
  const options = remembered()
  const notices = new Notices()
  const keys = new Keys(
    keymap,
    (action) => act(action),
    () => inFront() && !panelIsOpen(),
    (text) => notices.toast(text),
  )
  const policies = new Policies({
    isVisible: () => inFront() && !document.hidden,
    // The prompt goes back to the default of the policy.
    onChoose: (policy) => optionsChanged({ policy, prompt: undefined }),
  })
  const runs = new Runs({
    onChange: runChanged,
    onOver: (run) => view.finished(run),
    onDropped: (ids) => runsDropped(ids),
    titleOf: policies.titleOf,
  })
  const view = new RunView({
    tasks,
    options,
    policy: () => policies.chosen,
    keys,
    notices,
    onShown: showBar,
    onRun: () => controls.run(),
    onGuide: () => act('guide'),
    guide,
    onTrial: (run, sample) => controls.putOnTrial(run, sample),
    onStopTrial: (run, sample) => controls.stopTrial(run, sample),
    resultsOf: runs.resultsOf,
    titleOf: policies.titleOf,
    findRun,
    onShowRun: showRun,
    onRemoveRun: (id) => controls.remove(id),
    onAdd: { onFiles: () => bench.choose(), onLibrary: () => adding.fromLibrary(), onTry: () => adding.tryOne() },
  })
  const bench = new Bench(root, {
    onSelect: (id) => {
      benchPane.close({ refocus: false })
      return select(id)
    },
    onRemove: (id) => adding.remove(id),
    onAdded: (rows) => adding.added(rows),
    onLibrary: () => adding.fromLibrary(),
    onRunAll: () => controls.runAll(),
    onClear: () => adding.clear(),
    statusOf: (row) => runs.statusOf(row),
  })
  const benchPane = new SidePane(root, bench.root, {
    ...{ id: 'bench', name: t('Bench'), title: t('show or hide the bench') },
    key: keys.of('queue'),
  })
  const bar = new LiveBar(
    { tasks, policies, keys, options },
    {
      onPrimary: () => (controls.running ? controls.stop() : controls.run()),
      onSend: () => controls.send(),
      onOptions: () => optionsChanged({}),
      downloads: () => controls.downloads,
    },
    benchPane.button,
  )
  const adding = new AddSpectra({
    tasks,
    bench,
    notices,
    findRun: (id) => runs.find(id),
    isRunning: () => controls.running !== null,
    select,
    setTask: (task) => bar.setTask(task),
    showEmpty,
  })
  const controls = new RunControls({ view, runs, bench, notices, select, showBar, settings: () => bar.runSettings })
  const act = liveActions({
    controls,
    adding,
    openSettings: () => bar.settings.click(),
    toggleBench: () => benchPane.toggle(),
    keySheet: () => keys.sheet(),
  })

  /** The guide, or the imported prompt where the model reads that. */
  function guide() {
    const prompt = (view.run?.prompt ?? bar.prompt) === 'trained' ? policies.trainedPrompt(view.task) : undefined
    return guideOf(tasks[view.task], prompt)
  }

  root.classList.add('so-live', 'so-desk')
  const absent = t('The spectrum appears here: all of it above, the window that the agent zooms into below.')
  fill(
    root,
    bench.root,
    h('div.plots', view.header, view.spectrum.root, h('p.nothing', absent)),
    h('div.steps', notices.line, view.comparison.heads[0], view.tabs.root, view.trace.root),
    view.comparison.root,
    view.spectrum.evidence.root,
    bar.root,
    notices.toasts,
    h('div.drop-here', t('Drop to add the spectra to your bench')),
  )

  const { evidence } = view.spectrum
  evidence.placeIn(root)
  whenBack(root, () => evidence.update())
  // Another part of the page has put spectra on the bench.
  addEventListener('so-bench', (event) => {
    const rows = /** @type {CustomEvent<BenchRow[]>} */ (event).detail
    bench.show([...bench.rows, ...rows.filter(({ id }) => !bench.row(id))])
    adding.added(rows)
  })

  let opening = 0 // the last row selected: only that one is shown

  /** Show another run of the spectrum in front. @param {string} id */
  async function showRun(id) {
    const ticket = ++opening
    try {
      const run = await findRun(id)
      if (ticket !== opening || !run) return
      notices.clear()
      await view.showRun(run)
    } catch (error) {
      if (ticket === opening) notices.error(error)
    }
  }

  /**
   * The run to show with a row: the one shown last, also before a reload; the one in progress; the one whose answer
   * stands for the spectrum.
   * @param {BenchRow} row
   */
  function runToShow(row) {
    const results = runs.resultsOf(row)
    const shown = [row.chosen, thisTab.get(SHOWN_RUN)]
    const known = shown.find((id) => results.some(({ run }) => run === id))
    return known ?? (results.findLast(({ state }) => state === 'running') ?? standing(results))?.run
  }

  /** A run with all its events; null where the server no longer keeps it: then its tab goes. @param {string} id */
  async function findRun(id) {
    try {
      return await runs.find(id)
    } catch (error) {
      if (!(error instanceof Refused && error.status === 404)) throw error
      await controls.drop([id])
      notices.toast(error.message)
      return null
    }
  }

  /** Older runs were dropped when a run started. @param {string[]} ids */
  function runsDropped(ids) {
    controls.drop(ids).catch((error) => notices.error(error))
    notices.toast(
      tn(
        'The oldest run was removed: only the newest ones of a spectrum and of a person are kept.',
        '{n} of the oldest runs were removed: only the newest ones of a spectrum and of a person are kept.',
        ids.length,
      ),
    )
  }

  /** Show a row's spectrum with one of its runs. @param {string} id */
  async function select(id) {
    const row = bench.row(id)
    if (!row) return
    const ticket = ++opening
    bench.select(id)
    thisTab.set(CHOSEN, id)
    try {
      const chosen = runToShow(row)
      const run = chosen ? await findRun(chosen) : null
      if (chosen && !run) return
      const fetched = await view.spectrum.fetch(row, run?.task ?? options.task)
      if (ticket !== opening) return
      notices.clear()
      view.open(fetched, run)
    } catch (error) {
      if (ticket === opening) notices.error(error)
    }
  }

  function showEmpty() {
    opening += 1
    view.showEmpty()
  }

  function showBar() {
    const { run, current } = view
    if (run && current) {
      current.row.chosen = run.id
      thisTab.set(SHOWN_RUN, run.id)
    }
    const samples = controls.sendable
    const sent = run && samples.length > 0 && samples.every((sample) => run.sent.has(sample))
    bar.draw({
      run,
      row: current?.row ?? null,
      running: controls.running,
      name: run ? policyLabel(run, run.policyTitle) : '',
      sent: sent ? t('In the queue ✓') : null,
      sendable: samples.length,
    })
  }

  /** @type {number | null} */
  let frame = null

  /** Draw what a run has reported, at most once per frame. @param {Run} run */
  function runChanged(run) {
    if (run !== view.run && !bench.rows.some((row) => row.results.some((result) => result.run === run.id))) return
    frame ??= requestAnimationFrame(() => {
      frame = null
      bench.draw()
      view.draw()
    })
  }

  /** @param {Partial<RunOptions>} change */
  function optionsChanged(change) {
    Object.assign(options, change)
    remember(options)
    if (!view.current || view.run) showBar()
    else view.optionsChanged().catch((error) => notices.error(error))
  }

  async function start() {
    try {
      await policies.load(options.policy)
      await adding.load()
      const chosen = bench.row(thisTab.get(CHOSEN)) ?? bench.rows[0]
      if (chosen) await select(chosen.id)
      else showEmpty()
    } catch (error) {
      notices.error(error)
    }
  }

  setInterval(() => inFront() && view.trace.tick(), 200)
  onTheme((theme) => view.spectrum.view.setTheme(theme))

  // What tests and benchmarks may use of the tab.
  const handle = {
    bench,
    adding,
    spectrum: view.spectrum.view,
    get current() {
      return view.current
    },
    get shownRun() {
      return view.run
    },
    get shownTrace() {
      return view.shownTrace
    },
  }
  return { start, handle }
}
