import type { ResourceSink } from './types.ts'

/** Passes everything on to several sinks, in their order. */
export function fanOut(...sinks: readonly ResourceSink[]): ResourceSink {
  return {
    apply(change) {
      for (const sink of sinks) sink.apply(change)
    },
    beginReplace(kind, options) {
      const replacements = sinks.map((sink) => sink.beginReplace(kind, options))
      return {
        add: (resource) => replacements.forEach((it) => it.add(resource)),
        keep: (key) => replacements.forEach((it) => it.keep(key)),
        commit: async () => {
          for (const replacement of replacements) await replacement.commit()
        },
      }
    },
  }
}
