import { model } from '../../model/model.ts';
import { venv } from '../../recipe.ts';
import { nginx } from './nginx.ts';
import { alembic, gunicorn } from './skyline-apiserver.ts';

const pages = '/var/lib/kolla/venv/lib/python3/site-packages/skyline_console/static';

/** Skyline 6: pages that nginx serves, and an API server without oslo.config, with which users log in. */
export const skyline = model({
  project: 'skyline',
  images: {
    'skyline-console': {
      system: { '/usr/sbin': { nginx } },
      files: { [`${pages}/index.html`]: '<title>Cloud</title>', '/etc/nginx/mime.types': 'types {}\n' },
    },
    'skyline-apiserver': { system: { [venv]: { alembic, gunicorn } } },
  },
  programs: {},
});
