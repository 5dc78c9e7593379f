// What each action does: those of the keymap, which keys and buttons call, and those of buttons, cards and the plot.

import { assignItem } from '../find/bulk.js'
import { DECIDES, Keys } from '../common/keys.js'
import { t } from '../common/language.js'
import * as panels from '../common/panels.js'
import { toggleTheme } from '../common/theme.js'
import { verbFor } from './decision_bar.js'
import * as dialogs from './dialogs.js'

/** @type {Record<string, Mark['mark']>} */
const MARKS = {
  'mark-supported': 'supported',
  'mark-not-supported': 'not supported',
  'mark-hallucinated': 'hallucinated feature',
  'mark-wrong-frame': 'wrong frame',
  'mark-needless': 'needless zoom',
  'mark-clear': 'cleared',
}
/** @type {Record<string, string>} */
const VERDICTS = { 'verdict-yes': 'YES', 'verdict-no': 'NO', 'verdict-cannot-tell': 'cannot tell' }
/** What is done to the current version, not to an earlier one that is only read. */
const ON_CURRENT = /^(decide|mark|verdict)-|^(add|move|remove|edit|save|update)-|^edit$/
const WITHOUT_ITEM = /^(filter|(show-)?queue|keys|dark|verdict-first|next(-undone)?|undo|tour|escape|open)$/

/**
 * The parts of the tab that actions call.
 * @typedef {{root: HTMLElement, state: import('./state.js').ReviewState, view: import('./item_view.js').ItemView,
 *   editing: import('./editing.js').Editing, decisions: import('./decisions.js').Decisions,
 *   bar: import('./decision_bar.js').DecisionBar, lease: import('./lease.js').Lease,
 *   navigation: import('./navigation.js').Navigation, linked: import('./linked.js').Linked,
 *   queue: import('./queue.js').Queue, queuePane: import('../common/side_pane.js').SidePane,
 *   items: import('./items.js').Items, comments: import('../comments/comments.js').Comments,
 *   statements: import('./statements.js').Statements, notices: import('../common/notices.js').Notices,
 *   tour: import('../help/tour.js').Tour, keys: Keys, samp: import('../samp/samp.js').Samp}} Parts
 */

/** Views are built with `act`, before the parts that carry the actions out: `connect` names these. */
export class Actions {
  /** @type {Record<string, (...about: any[]) => unknown>} by action */
  table = {}
  /** @type {Parts | null} */
  #parts = null

  /** @param {Parts} parts */
  connect(parts) {
    this.#parts = parts
    this.table = { ...ofKeys(parts), ...ofViews(parts) }
  }

  /** A key was pressed; whatever it does but decide shows that the person has seen the round of the item. */
  press = (/** @type {string} */ action) => {
    if (!DECIDES.test(action)) this.#parts?.state.seeRound()
    return this.act(action)
  }

  /** @type {import('./state.js').Act} */
  act = (action, ...about) => {
    if (!this.#parts) return undefined
    const { decisions, notices, state, view } = this.#parts
    const { reading } = state
    const known = this.table[action]
    if (!state.current && !WITHOUT_ITEM.test(action)) return undefined
    if (reading && ON_CURRENT.test(action)) return notices.toast(state.editRefusal)
    if (action in MARKS) return void (view.selected && decisions.mark(view.selected, MARKS[action]))
    if (action in VERDICTS) return void decisions.commitVerdict(VERDICTS[action])
    if (action.startsWith('decide-') && !known) return decide(this.#parts, action)
    if (action === 'brush' && !state.editable) return notices.toast(t('Windows are changed in the revision round.'))
    if (known) return known(...about) === false ? false : undefined
    return view.spectrum.command(action) ? undefined : false
  }
}

/** @param {Parts} parts @param {string} action e.g. "decide-yes", which is keep, submit, pass or approve */
function decide({ decisions, notices, state }, action) {
  const stay = action.endsWith('-stay')
  const verb = verbFor(state.item, action.replace('-stay', ''))
  if (verb) decisions.decide(verb, { stay })
  else notices.toast(t('This round has no such decision.'))
}

/** The actions of the keymap. @param {Parts} parts @returns {Record<string, () => unknown>} */
function ofKeys(parts) {
  const { bar, comments, decisions, editing, items, keys } = parts
  const { navigation, notices, queue, queuePane, root, state, tour, view } = parts

  /** @param {(id: string) => void} act */
  const onSelected = (act) => () => void (view.selected && act(view.selected))

  /** @param {number} by */
  const selectStep = (by) => {
    const { steps } = view
    const at = steps.findIndex((step) => step.id === view.selected) + by
    if (steps.length) view.select(steps[Math.max(0, Math.min(steps.length - 1, at))].id)
  }

  const escape = () => {
    view.spectrum.command('width-off')
    const focused = document.activeElement
    if (focused instanceof HTMLElement && focused !== document.body && root.contains(focused)) focused.blur()
    queue.closeFilter()
  }

  const toggleVerdictFirst = () => {
    state.setVerdictFirst(!state.verdictFirst)
    notices.toast(
      state.verdictFirst
        ? t('Your verdict first: names, thoughts, answers and votes stay hidden until you have given ' + 'yours.')
        : t('“Verdict first” is off: answers are visible.'),
    )
  }

  const history = async () => {
    const { item } = state
    if (item) dialogs.openHistory(await items.history(item.id), item.id)
  }

  return {
    next: () => navigation.next(),
    back: () => navigation.back(),
    'next-undone': () => navigation.nextUndone(),
    filter: () => queue.toggleFilter(),
    queue: () => queuePane.toggle(),
    'step-next': () => selectStep(1),
    'step-back': () => selectStep(-1),
    edit: onSelected((id) => {
      if (!view.trace.edit(id)) notices.toast(state.editRefusal)
    }),
    'add-zoom': () => editing.add(view.selected, 'zoom'),
    'add-think': () => editing.add(view.selected, 'think'),
    'move-up': onSelected((id) => editing.move(id, -1)),
    'move-down': onSelected((id) => editing.move(id, 1)),
    'remove-step': onSelected((id) => editing.remove(id)),
    'edit-undo': () => {
      if (state.restoreSteps('undo'))
        notices.toast(t('Taken back. {key} makes the change again.', { key: Keys.of('edit-redo') }))
    },
    'edit-redo': () => state.restoreSteps('redo'),
    'update-numbers': onSelected((id) =>
      state.editable ? editing.updateNumbers(id) : notices.toast(state.editRefusal),
    ),
    'save-version': () => decisions.saveAndRefresh(),
    'mark-note': onSelected((id) => writeNote(parts, id)),
    comment: () => bar.comment.focus(),
    'decide-cannot-tell': () => decisions.cannotTell(),
    undo: () => decisions.undo(),
    'verdict-first': toggleVerdictFirst,
    guide: () => view.evidence.show('guide'),
    history: () => history().catch((error) => notices.error(error)),
    evidence: () => view.evidence.toggle(),
    catalogues: () => view.evidence.show('sky'),
    comments: () => comments.write(),
    inspect: () => view.evidence.show('inspection'),
    dark: toggleTheme,
    tour: () => tour.start(),
    keys: () => panels.openPanel(t('Keys'), keys.sheet(), { wide: true }),
    escape,
  }
}

/** What only buttons, cards and the plot call. @param {Parts} parts @returns {typeof Actions.prototype.table} */
function ofViews(parts) {
  const { comments, decisions, editing, lease, linked, navigation, notices, queuePane, samp, state, statements, view } =
    parts
  return {
    open: (id) => {
      queuePane.close({ refocus: false })
      return navigation.open(id)
    },
    'show-queue': () => queuePane.show(),
    verb: (verb) => decisions.decide(verb),
    'typed-comment': (text) => {
      state.draft?.setComment(text)
      lease.want()
    },
    'see-round': () => state.seeRound(),
    disagreement: () => view.select(statements.disagreements[0].step),
    medium: (medium) => decisions.setMedium(medium),
    'confirm-answer': (id) => decisions.confirmAnswer(id),
    'current-version': () => linked.read(null),
    compare: (id) => linked.openComparison(id).then((why) => why && notices.show(why)),
    'close-comparison': () => linked.closeComparison(),
    'copy-link': () => {
      const link = `${location.origin}${location.pathname}${linked.link()}`
      panels.copyText(link, (message) => notices.toast(message), t('Link copied.'))
    },
    samp: () => void samp.open(),
    assign: async () => {
      const done = state.item && (await assignItem(state.me, state.item.id))
      if (done) notices.toast(t('Assigned. Find › Past actions can undo it.'))
    },
    'drag-window': (lo, hi, final) => editing.dragWindow(lo, hi, final),
    'card-text': (id, text) => editing.setStep(id, { text }),
    'card-answer': (id, change) => editing.setStep(id, change),
    'card-window': (id, lo, hi, visit) => editing.setWindow(id, lo, hi, visit),
    'card-label': (id, label) => editing.setLabel(id, label),
    'card-mark': (id, mark) => decisions.mark(id, mark),
    'card-add': (id, kind) => editing.add(id, kind),
    'card-move': (id, by) => editing.move(id, by),
    'card-remove': (id) => editing.remove(id),
    'card-update': (id) => editing.updateNumbers(id),
    'card-comment': (id) => comments.openStep(id),
  }
}

/** @param {Parts} parts @param {string} id of a step */
async function writeNote({ decisions, state }, id) {
  const { item } = state
  if (!item || item.hidden) return
  const mine = item.marks.mine[id]
  const unsent = new dialogs.UnsentAnswer(state.me.initials, item, `note ${id}`)
  const title = t('Note on step {numberOf}', { numberOf: state.numberOf(id) })
  const text = await dialogs.askText(title, mine?.note ?? '', t('Save note'), unsent)
  if (text !== null && (await decisions.mark(id, mine?.mark ?? 'not supported', text))) unsent.forget()
}
