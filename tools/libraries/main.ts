import { shown } from './library.ts';
import { pack } from './pack.ts';

for (const tarball of pack()) console.log(shown(tarball));
