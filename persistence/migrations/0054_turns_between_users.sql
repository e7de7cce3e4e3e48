-- Numbers the changes between users, so that several processes that are told of two of them know which is the later.
CREATE SEQUENCE social_turns;
