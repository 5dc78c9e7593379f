// Types of what the page makes itself and offers to other scripts; answers.d.ts has those of the API's answers. Read by
// `make js` only.

/** The element that `h('div.card')` makes: the part before the first dot names it. */
type ElementOf<S extends string> = S extends `${infer T}.${string}`
  ? T extends keyof HTMLElementTagNameMap
    ? HTMLElementTagNameMap[T]
    : HTMLElement
  : S extends keyof HTMLElementTagNameMap
    ? HTMLElementTagNameMap[S]
    : HTMLElement

interface Window {
  Plotly: any
  /** The desks of this page, for tests and for links from one tab to another. */
  specO3: any
}

interface Keymap {
  groups: { title: string; keys: KeyEntry[] }[]
}

interface KeyEntry {
  key: string
  show?: string
  what: string
  action: string
  typing?: boolean
  /** shown with its entry in a menu, not on the sheet of keys */
  menu?: boolean
}

type Medium = 'air' | 'vacuum'
type Frame = 'observed' | 'rest'

interface Step {
  id: string
  kind: 'think' | 'zoom' | 'answer'
  /** of a think */
  text?: any
  /** of a zoom */
  arguments?: any
  frame?: any
  z?: any
  medium?: any
  observation?: any
  ok?: boolean
  picture?: any
  tool?: string
  /** of a zoom that is not finished: what to show until then */
  pending?: string
  /** of an answer */
  verdict?: any
  explanation?: any
}

/** A window of a zoom, as the spectrum view draws it. */
interface StepWindow {
  id: string
  number: number | string
  lo: number
  hi: number
  frame: Frame
  z?: number
  label?: string
  noun?: string
  side?: string
  [more: string]: any
}

interface Spectrum {
  wavelength: Float64Array
  flux: Float32Array | Float64Array
  ivar: Float64Array
  mask: Uint8Array
  frame: Frame
  medium: Medium
  redshift: number | null
  [more: string]: any
}

/** Comments about one step: their number, that of open threads, and that of comments the person has not seen. */
interface StepThreads {
  comments: number
  open: number
  fresh: number
}

/** What is drawn at once when an item is opened. */
interface LoadedItem {
  item: Item
  spectrum: Spectrum | null
  atlas: Atlas
  /** what came with the item, as it was then; `query`: the list for which it was requested */
  opening: Opening
  query: string
}

/** The page holds HTML elements; a query for another kind names it. */
interface ParentNode {
  querySelector<E extends Element = HTMLElement>(selectors: string): E | null
  querySelectorAll<E extends Element = HTMLElement>(selectors: string): NodeListOf<E>
}
interface Element {
  closest<E extends Element = HTMLElement>(selectors: string): E | null
}

/** A spectrum on the bench of the Live tab. */
interface BenchRow extends Omit<BenchSpectrum, 'results'> {
  /** Its runs, oldest first, as the server had them when the page asked. */
  results: RunSummary[]
  /** The run shown last. */
  chosen?: string
}

/** What a list of runs shows of a run. */
interface RunSummary extends Omit<RunListed, 'state'> {
  state: Run['state']
  progress?: string
  onTrial?: boolean
}

/** What a run is started with: the named settings and optional limits. */
interface RunSettings {
  task: string
  policy: string
  samples: number
  [setting: string]: string | number | undefined
}

/** What the person chose last in the bar of the Live tab. */
interface RunOptions {
  task: string
  policy?: string
  prompt?: 'trained' | 'ours'
  samples: number
  settings: Record<string, number | undefined>
}

/** The trial of one sample. `done` of `of` tool calls; `detail`: why it failed. */
interface LiveTrial {
  state: 'running' | 'done' | 'stopped' | 'failed'
  done: number
  of: number | null
  detail: string
  result: Trial | null
}

/** One sample of a run. */
interface LiveTraceState {
  overview: string | null
  maxTurns: number
  drafter: any
  steps: Step[]
  hints: Record<string, Hint[]>
  turn: number
  text: string
  thought: boolean
  call: any
  verdict: string | null
  ended: { reason: string; detail?: string; seconds: number; usage?: any; faults?: string[]; drafter: any } | null
  trial: LiveTrial | null
}

/** A run of the agent on a spectrum of the bench. */
interface Run {
  id: string
  bench: string
  spectrum: string
  task: string
  policy: string
  policyTitle: string
  samples: number
  state: 'running' | 'done' | 'stopped' | 'failed' | 'gone'
  traces: LiveTraceState[]
  consensus: any
  since: number
  lost: string
  stopping: boolean
  sent: Map<number, number>
  over: Promise<void>
  isOver: () => void
  [more: string]: any
}

/** What the data say about one version of an item, by step. */
interface Checks {
  hints: Record<string, Hint[]>
  spans: Record<string, Span[]>
  disagreements: { step: string; text: string }[]
}

/** The newest unread comments, and the number of all. */
interface UnreadComments {
  items: UnreadItem[]
  total: number
  /** the newest comment on any item */
  newest: number
}

/** An item and everything that the page shows with it. */
interface Opening {
  item: Item
  place: Place
  /** who works on the item so that this person cannot */
  held: { message: string; until: string } | null
  others: OtherTrace[]
  epochs: Epochs
  comments: Discussion
  /** null: not measured yet, or the answer is hidden */
  checks: Checks | null
  unread: UnreadComments
  /** grows with every change on the server */
  stamp: number
}
