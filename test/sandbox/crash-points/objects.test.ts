import { takeCourse } from './take-course.ts';

takeCourse('objects');
