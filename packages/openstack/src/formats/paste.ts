import type { DataMap } from './data.ts';

/** A file of Paste, by what a request passes. */
export interface PasteFile {
  /** Options of all sections. */
  readonly defaults: DataMap;
  /** Names of the filters, in the order in which requests pass them, and of the program at the end. */
  readonly pipeline: readonly string[];
  /** What a filter or the program is unless its options say it: its `use`. */
  readonly use: (name: string) => string;
  /** Options of filters and of the program, by name. */
  readonly options: Readonly<Record<string, DataMap>>;
}

/** The sections of a file of Paste (PasteDeploy), as data of format `ini`. */
export function pasteData({ defaults, pipeline, use, options }: PasteFile): DataMap {
  const sections = pipeline.map((name, index) => {
    const own = options[name] ?? {};
    const isForeign = Object.keys(own).some((option) => option.startsWith('paste.'));
    const kind = index === pipeline.length - 1 ? 'app' : 'filter';
    return [`${kind}:${name}`, isForeign ? own : { use: use(name), ...own }];
  });
  return { DEFAULT: defaults, 'pipeline:main': { pipeline: pipeline.join(' ') }, ...Object.fromEntries(sections) };
}
