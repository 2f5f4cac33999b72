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

const sectionOf = (name: string, index: number, { length }: readonly string[]) =>
  `${index === length - 1 ? 'app' : 'filter'}:${name}`;

/** The sections of a file of Paste (PasteDeploy), as data of format `ini`. */
export function pasteData({ defaults, pipeline, use, options }: PasteFile): DataMap {
  const sections = pipeline.map((name, index) => {
    const own = options[name] ?? {};
    const isForeign = Object.keys(own).some((option) => option.startsWith('paste.'));
    return [sectionOf(name, index, pipeline), isForeign ? own : { use: use(name), ...own }];
  });
  return { DEFAULT: defaults, 'pipeline:main': { pipeline: pipeline.join(' ') }, ...Object.fromEntries(sections) };
}

/**
 * What users cannot set in such a file, each with the field instead: what a request passes, what each section is, and
 * `everywhere`, options by name. An option of `[DEFAULT]` holds in a section of its own name, too, and there by the words
 * `set` and `get` of PasteDeploy.
 */
export function pasteOwned(
  pipeline: readonly string[],
  everywhere: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const passed = 'nothing: what requests pass is fixed';
  const sections = pipeline.map((name, index) => sectionOf(name, index, pipeline));
  const whole = ['pipeline:*', 'app:main', 'application:*', 'filter-app:*', 'composit*', 'server:*'];
  const entries = [
    ...whole.map((section) => [section, passed]),
    ...sections.flatMap((section) => [
      [`${section}.use`, passed],
      [`${section}.paste*`, passed],
    ]),
    ...Object.entries(everywhere).flatMap(([name, field]) =>
      [name, `set *${name}`, `get *${name}`].map((option) => [`*.${option}`, field]),
    ),
  ];
  return Object.fromEntries(entries) as Readonly<Record<string, string>>;
}
