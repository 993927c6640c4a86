export const templateNames = ['programs', 'typed', 'both'] as const
export type TemplateName = (typeof templateNames)[number]
