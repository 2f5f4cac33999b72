import type { User } from '@openstack-operator/facts/users';
import type { Program } from '@openstack-operator/sandbox';
import { owned, type Recipe, venv } from '../recipe.ts';
import { type ManageProgram, manageProgram } from './manage.ts';
import { osloProgram, type Project, type ServiceProgram } from './program.ts';
import { uwsgi, type WsgiModule } from './uwsgi.ts';
import { type Application, wsgiModule } from './wsgi.ts';

/** A service of OpenStack as its packages are: what its programs read, connect to and when, and what they say. */
export interface Model extends Project {
  /** The user of its images, as Kolla names it; the project when absent. */
  readonly user?: User;
  /** Its images, by Kolla's names. */
  readonly images: Readonly<Record<string, ModelImage>>;
  /** Its commands and daemons, by name; every image holds all of them. */
  readonly programs: Readonly<Record<string, ServiceProgram | ManageProgram>>;
  /** What uwsgi can load: `package.module:callable`. */
  readonly applications?: Readonly<Record<string, Application>>;
  /** What every image has in its configuration directory. */
  readonly files?: Recipe['files'];
}

/** What distinguishes an image of a service from its others. */
export interface ModelImage {
  /** Its USER line is root, not the service's user. */
  readonly root?: true;
  readonly files?: Recipe['files'];
  /** Programs outside of the virtual environment, by directory. */
  readonly system?: Recipe['programs'];
}

/** A model, made ready to run. */
export interface Modelled {
  readonly programs: Readonly<Record<string, Program>>;
  readonly modules: Readonly<Record<string, WsgiModule>>;
  readonly recipes: readonly Recipe[];
}

/** Makes the images and programs that a table describes. */
export function model(table: Model): Modelled {
  const { project, options, images, user = project, applications = {} } = table;
  const whose: Project = { project, ...(options !== undefined && { options }) };
  const modules = mapValues(applications, (application) => wsgiModule(whose, application));
  const programs = mapValues(table.programs, (program) =>
    osloProgram(whose, 'commands' in program ? manageProgram(program) : program),
  );
  const installed = table.applications === undefined ? programs : { ...programs, uwsgi: uwsgi(modules) };
  const recipes = Object.entries(images).map(([name, { root = false, files, system }]) => ({
    names: [name],
    user,
    runsAsUser: !root,
    programs: { [venv]: installed, ...system },
    files: { [`/etc/${project}`]: owned(user), ...table.files, ...files },
  }));
  return { programs, modules, recipes };
}

function mapValues<A, B>(values: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
