import { texts as options } from './generated/2025.1/options/index.js';
import { texts as plugins } from './generated/2025.1/plugins/index.js';
import { texts as serviceTexts } from './generated/2025.1/services/index.js';

/** Generated JSON by what it is about: nothing of it is parsed before it is asked for. */
export type Texts = Readonly<Record<string, () => string>>;

/** What is generated of one release. */
interface ReleaseTexts {
  /** By service. */
  readonly services: Texts;
  /** By the distribution that declares them. */
  readonly options: Texts;
  readonly plugins: Texts;
}

/** By release; the next one stands beside it. */
export const releaseTexts: ReadonlyMap<string, ReleaseTexts> = new Map([
  ['2025.1', { services: serviceTexts, options, plugins }],
]);

/** The releases that there are facts of, oldest first. */
export function releases(): readonly string[] {
  return [...releaseTexts.keys()];
}

/** The services of a release, plug-ins included, sorted; none of an unknown release. */
export function services(release: string): readonly string[] {
  return Object.keys(releaseTexts.get(release)?.services ?? {});
}
