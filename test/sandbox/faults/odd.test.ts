import { playHalf } from './play-many.ts';

playHalf(1);
