// Dialogs that every tab uses: any panel, the guide of a task, a picture at full size.

import { cap, h } from './dom.js'
import { t, TRACE } from './language.js'

/**
 * Open a dialog; Esc and a click outside close it. Its keys stay in it. When it closes, the browser itself returns
 * the focus to where it was, at once: the event comes later, when a next key may have moved the focus already. It takes
 * the place of a dialog that is open, or is `over` it.
 * @template T
 * @param {string} title
 * @param {Node | ((close: (result?: T) => void, dialog: HTMLDialogElement) => Node)} content
 * @returns {Promise<T | null>} what it was closed with
 */
export function openPanel(title, content, { wide = false, over = false } = {}) {
  if (!over) closePanel()
  return new Promise((resolve) => {
    /** @type {T | null} */
    let result = null
    /** @param {T} [value] */
    const close = (value) => {
      result = value ?? null
      dialog.close()
      // Where nothing had the focus, it would stay in the dialog until the event, and the next key would be lost.
      dialog.remove()
    }
    const button = h('button', { 'aria-label': `${t('close')} Esc`, onClick: () => close() }, cap('Esc'))
    const dialog = h('dialog.panel', { 'aria-label': title, tabIndex: -1 }, h('header', h('h2', title), button))
    dialog.classList.toggle('wide', wide)
    dialog.append(typeof content === 'function' ? content(close, dialog) : content)
    dialog.addEventListener('close', () => {
      dialog.remove() // where the browser closed it
      resolve(result)
    })
    dialog.addEventListener('cancel', (event) => {
      if (event.target !== dialog) return
      event.preventDefault()
      close()
    })
    dialog.addEventListener('click', (event) => event.target === dialog && close())
    // A key that closes the dialog is not a key of the page behind it.
    dialog.addEventListener('keydown', (event) => event.stopPropagation())
    document.body.append(dialog)
    dialog.showModal()
    dialog.focus()
  })
}

/** Ask before what cannot be undone. @param {string} title @param {string[]} lines @param {string} act on the button */
export async function confirmed(title, lines, act) {
  const sure = await openPanel(title, (/** @type {(result?: true) => void} */ close) => {
    const cancel = h('button', { onClick: () => close() }, t('Cancel'))
    const confirm = h('button.danger', { onClick: () => close(true) }, act)
    return h('div', ...lines.map((line) => h('p', line)), h('footer', cancel, confirm))
  })
  return sure === true
}

/** Close the dialog that is open, if one is. */
export const closePanel = () => {
  const dialog = /** @type {HTMLDialogElement | null} */ (document.querySelector('dialog.panel[open]'))
  dialog?.close()
  dialog?.remove()
}

export const panelIsOpen = () => document.querySelector('dialog.panel[open]') !== null

const bold = (/** @type {string} */ line) =>
  line.split(/\*\*(.+?)\*\*/g).map((part, at) => (at % 2 ? h('strong', part) : part))

const REASON = /^ {4}(?![-*] )(?=\S)/ // an indented line below a bullet: why the sign separates the class

/** The guide's Markdown as elements: bullets and bold only, so a task file cannot add markup. */
export function guideElements(/** @type {string} */ text) {
  const lines = text.split('\n').filter((line) => line.trim())
  return lines.map((line) => {
    const [, indent, words] = /^(\s*)[-*] (.*)$/.exec(line) ?? []
    if (words === undefined) return h(REASON.test(line) ? 'p.reason' : 'p', { lang: TRACE }, bold(line))
    return h(`p.bullet.depth${Math.min(2, Math.floor(indent.length / 1.9))}`, { lang: TRACE }, bold(words))
  })
}

/**
 * Whether a prompt is that of the task's file, with or without the reasons.
 * @param {string} prompt @param {{question: string, guide: string}} task
 */
export function isPromptOf(prompt, { question, guide }) {
  const criteria = (/** @type {string} */ text) => text.split('\n').filter((line) => !REASON.test(line))
  return criteria(prompt).join('\n') === criteria(`${question}\n\n${guide}`).join('\n')
}

/**
 * Question and guide of a task, with its reasons also where the model read it without them.
 * @param {TaskText | undefined} task @param {string} [prompt] what the model read, shown where it is not the task's
 */
export function guideOf(task, prompt) {
  if (prompt && !(task && isPromptOf(prompt, task))) {
    const note = t('The prompt that the model reads here. It is not the one of the task file.')
    return h('div.guide-text', h('p.muted', note), guideElements(prompt))
  }
  const guide = task ? guideElements(task.guide) : h('p', t('This class has no task file here.'))
  return h('div.guide-text', h('p', { lang: TRACE }, h('em', bold(task?.question ?? ''))), guide)
}

/** @param {TaskText | undefined} task */
export const openGuide = (task) => openPanel(task?.title ?? t('Guide'), guideOf(task))

export const openPicture = (/** @type {string} */ url) =>
  openPanel(t('What the agent saw'), h('img.full', { src: url, alt: t('the picture at full size') }), { wide: true })

/**
 * Copy a text and say so. Browsers give no access to the clipboard on a page that was not sent over HTTPS: there the
 * text is shown, to be copied.
 * @param {string} text @param {(message: string) => void} toast
 */
export function copyText(text, toast, done = t('copied')) {
  const shown = () => {
    const field = h('input.link-to-copy', { value: text, readOnly: true, 'aria-label': t('Copy') })
    queueMicrotask(() => field.select())
    return openPanel(t('Copy'), field)
  }
  if (!navigator.clipboard) return void shown()
  return void navigator.clipboard.writeText(text).then(() => toast(done), shown)
}
