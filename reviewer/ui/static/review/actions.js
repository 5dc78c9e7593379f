// What each action of the keymap does. Buttons and keys both call these.

import { Keys } from '../common/keys.js'
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
const WITHOUT_ITEM = [
  'filter',
  'queue',
  'keys',
  'dark',
  'verdict-first',
  'next',
  'next-undone',
  'undo',
  'tour',
  'escape',
]

/**
 * @typedef {Object} ActionsOptions
 * @property {HTMLElement} root
 * @property {import('./state.js').ReviewState} state
 * @property {import('./item_view.js').ItemView} view
 * @property {import('./editing.js').Editing} editing
 * @property {import('./decisions.js').Decisions} decisions
 * @property {import('./navigation.js').Navigation} navigation
 * @property {import('./queue.js').Queue} queue
 * @property {import('./items.js').Items} items
 * @property {import('../common/notices.js').Notices} notices
 * @property {() => HTMLElement} keySheet
 * @property {() => void} focusComment
 * @property {() => void} toggleQueue
 * @property {() => void} toggleVerdictFirst
 * @property {() => void} comments
 * @property {() => void} inspect
 * @property {() => void} tour
 */

/**
 * The handler of all actions.
 * @param {ActionsOptions} options
 * @returns {(action: string) => boolean | void} false leaves the key to the browser
 */
export function reviewActions(options) {
  const { root, state, view, editing, decisions, navigation, queue, items, notices } = options

  /** @param {(id: string) => void} act */
  const onSelected = (act) => () => {
    if (view.selected) act(view.selected)
  }

  /** @param {number} by */
  const selectStep = (by) => {
    const { steps } = view
    const at = steps.findIndex((step) => step.id === view.selected)
    const to = steps[Math.max(0, Math.min(steps.length - 1, at + by))]
    if (to) view.select(to.id)
  }

  /** @param {string} id */
  const note = async (id) => {
    const { item } = state
    if (!item || item.hidden) return
    const mine = item.marks.mine[id]
    const unsent = new dialogs.UnsentAnswer(state.me.initials, item, `note ${id}`)
    const text = await dialogs.askText(
      t('Note on step {numberOf}', { numberOf: state.numberOf(id) }),
      mine?.note ?? '',
      t('Save note'),
      unsent,
    )
    if (text !== null && (await decisions.mark(id, mine?.mark ?? 'not supported', text))) unsent.forget()
  }

  const escape = () => {
    view.command('width-off')
    const focused = document.activeElement
    if (focused instanceof HTMLElement && focused !== document.body && root.contains(focused)) focused.blur()
    queue.closeFilter()
  }

  /** @param {string} id */
  const edit = (id) => {
    if (!view.editStep(id)) notices.toast(state.editRefusal)
  }

  /** @param {Promise<unknown>} done */
  const reported = (done) => {
    done.catch((error) => notices.error(error))
  }

  /** @type {Record<string, () => unknown>} */
  const table = {
    next: () => navigation.next(),
    back: () => navigation.back(),
    'next-undone': () => navigation.nextUndone(),
    filter: () => queue.toggleFilter(),
    queue: options.toggleQueue,
    'step-next': () => selectStep(1),
    'step-back': () => selectStep(-1),
    edit: onSelected(edit),
    'add-zoom': () => editing.add(view.selected, 'zoom'),
    'add-think': () => editing.add(view.selected, 'think'),
    'move-up': onSelected((id) => editing.move(id, -1)),
    'move-down': onSelected((id) => editing.move(id, 1)),
    'remove-step': onSelected((id) => editing.remove(id)),
    'edit-undo': () => {
      if (editing.undo()) notices.toast(t('Taken back. {key} makes the change again.', { key: Keys.of('edit-redo') }))
    },
    'edit-redo': () => editing.redo(),
    'update-numbers': onSelected((id) => {
      if (state.editable) editing.updateNumbers(id)
      else notices.toast(state.editRefusal)
    }),
    'save-version': () => decisions.saveAndRefresh(),
    'mark-note': onSelected(note),
    comment: options.focusComment,
    'decide-cannot-tell': () => decisions.cannotTell(),
    undo: () => decisions.undo(),
    'verdict-first': options.toggleVerdictFirst,
    guide: () => panels.openGuide(state.me.tasks[state.item?.task.key ?? ''], state.item?.trajectory.prompt),
    history: () => {
      const { item } = state
      if (item) reported(items.history(item.id).then((found) => dialogs.openHistory(found, item.id)))
    },
    evidence: () => view.evidence.toggle(),
    comments: options.comments,
    inspect: options.inspect,
    dark: toggleTheme,
    tour: options.tour,
    keys: () => panels.openPanel(t('Keys'), options.keySheet(), { wide: true }),
    escape,
  }

  /** @param {string} action */
  const decide = (action) => {
    const stay = action.endsWith('-stay')
    const verb = verbFor(state.item, action.replace('-stay', ''))
    if (verb) decisions.decide(verb, { stay })
    else notices.toast(t('This round has no such decision.'))
  }

  return (action) => {
    if (!state.current && !WITHOUT_ITEM.includes(action)) return undefined
    if (state.reading && ON_CURRENT.test(action)) return notices.toast(state.editRefusal)
    if (action in MARKS) return onSelected((id) => decisions.mark(id, MARKS[action]))()
    if (action in VERDICTS) return void decisions.commitVerdict(VERDICTS[action])
    if (action.startsWith('decide-') && !(action in table)) return decide(action)
    if (action === 'brush' && !state.editable) return notices.toast(t('Windows are changed in the revision round.'))
    const act = table[action]
    if (act) return act() === false ? false : undefined
    return view.command(action) ? undefined : false
  }
}
