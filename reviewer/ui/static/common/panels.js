// Dialogs that every tab uses: any panel, the guide of a task, a picture at full size.

import { cap, h } from './dom.js'

/** Open a dialog; resolves with what it was closed with. Esc closes; focus goes back to where it was. */
export function openPanel(title, content, { wide = false } = {}) {
  document.querySelector('dialog.panel')?.close()
  const before = document.activeElement
  return new Promise((done) => {
    const dialog = h(
      `dialog.panel${wide ? '.wide' : ''}`,
      { 'aria-label': title },
      h(
        'header',
        {},
        h('h2', {}, title),
        h('button', { type: 'button', 'aria-label': 'close', onClick: () => dialog.close('') }, cap('Esc')),
      ),
    )
    dialog.append(typeof content === 'function' ? content(dialog) : content)
    dialog.addEventListener('close', () => {
      dialog.remove()
      before?.focus?.()
      done(dialog.result ?? null)
    })
    dialog.addEventListener('click', (event) => event.target === dialog && dialog.close(''))
    document.body.append(dialog)
    dialog.tabIndex = -1
    dialog.showModal()
    dialog.focus()
  })
}

export const panelIsOpen = () => document.querySelector('dialog.panel[open]') !== null

const bold = (line) => line.split(/\*\*(.+?)\*\*/g).map((part, at) => (at % 2 ? h('strong', {}, part) : part))

/** The guide's markdown as elements: bullets, bold, nothing else, so no markup can come in by a task file. */
export function guideElements(text) {
  return text
    .split('\n')
    .filter((line) => line.trim())
    .map((line) => {
      const bullet = /^(\s*)[-*] (.*)$/.exec(line)
      return bullet
        ? h(`p.bullet.depth${Math.min(2, Math.floor(bullet[1].length / 1.9))}`, {}, bold(bullet[2]))
        : h('p', {}, bold(line))
    })
}

export function openGuide(task) {
  return openPanel(
    task?.title ?? 'Guide',
    h(
      'div.guide',
      {},
      h('p', {}, h('em', {}, bold(task?.question ?? ''))),
      guideElements(task?.guide ?? 'This class has no task file here.'),
    ),
  )
}

/** A picture at full size. */
export const openPicture = (url) =>
  openPanel('What the agent saw', h('img.full', { src: url, alt: 'the picture at full size' }), { wide: true })
