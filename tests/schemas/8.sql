BEGIN TRANSACTION;
CREATE TABLE autosaves (
    person TEXT NOT NULL REFERENCES people (initials),
    item INTEGER NOT NULL REFERENCES items (id),
    base_version INTEGER NOT NULL REFERENCES versions (id),
    body TEXT NOT NULL CHECK (json_valid(body)),
    at TEXT NOT NULL,
    PRIMARY KEY (person, item, base_version)
);
INSERT INTO "autosaves" VALUES('RE',4,4,'{"steps": ["half a sent"]}','2026-11-22T13:03:00.000+00:00');
CREATE TABLE barred (
    person TEXT NOT NULL REFERENCES people (initials),
    item INTEGER NOT NULL REFERENCES items (id),
    PRIMARY KEY (person, item)
) WITHOUT ROWID;
INSERT INTO "barred" VALUES('AU',7);
CREATE TABLE blind_assignments (
    token TEXT PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    scorer TEXT NOT NULL REFERENCES people (initials),
    kind TEXT NOT NULL CHECK (kind IN ('scores', 'pair')),
    place INTEGER NOT NULL,
    -- The one to score, or the left one of a pair.
    version INTEGER NOT NULL REFERENCES versions (id),
    on_the_right INTEGER REFERENCES versions (id),
    spectrum TEXT REFERENCES spectra (sha256),
    repeat_of TEXT REFERENCES blind_assignments (token),
    gold INTEGER NOT NULL,
    UNIQUE (session, scorer, place),
    CHECK ((kind = 'pair') = (on_the_right IS NOT NULL))
) WITHOUT ROWID;
INSERT INTO "blind_assignments" VALUES('2AhyDpPBlsoz61kk9PAqJ3zzhEwbzGAv5C_mKfRmMgg',1,'AU','scores',1,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('2Yp2ZP2ZCCnaTWY34uajvS-X6o-S_2HGosxnZSMVvNc',1,'RE','pair',6,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('8mg6_w8-z2zpP0N2vS4SHwqy-NhG2umUfZDtLnLRmIQ',3,'RE','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('9mJpt8m2m8UETtexFNOMHEZmORiEDKTTRIQPAuKDT8Y',1,'AU','scores',4,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('A2fpZ9yLzPO-uky8Iy3doyyd7OaGxjWv4IjJciMhp7E',3,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('D_dcDtmQC_Y2ZqTV-ZPCUvoJl5GeR0yL83Bj9XOZxVM',2,'AU','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('DylvHsEvfjmEKzhQ_mQogWvkCWu-WqmOhkYkXvhSqLA',2,'AU','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('Ej6gTAQRzGL5gfgwPkUMZ-QIAZabKG2woPzn2X28zG0',1,'RE','pair',5,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('EwRf8bYHktF2huFoXY0FjEGeVTTQG6tVx9i7qpRdLdc',1,'AU','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('FLfQwMtc9IeIbf0aDFJjg5ydkC_7Gwv_o8JMFJWsjS0',2,'RE','pair',6,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('GmSdsyIGVv4c-SuRw9rnhTD_S-aN8GaC9sxUOBC8iPM',2,'RE','pair',5,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('H5Av7Ao31FRq8WUAy4Jpsb9jT3317zyWzuMB6g92VYM',3,'AU','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('JbSaxQYrZ9a76xwkERqfcaZUqkFrbYcnks-fn43f67A',1,'RE','scores',3,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('JyoryUE3-s0nnXMd1yqF1kaDUgUOEWIW8uL4afWkwtA',1,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('PIUgFrTIbN_t7wIqbJ_Z-J2EJVNtQLgOZNG7UD5jSk4',3,'AU','scores',4,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('PU0hr2a09o1xdvMCZHZrWgEvHM5migZOkMkgpKSScUo',3,'RE','pair',6,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('PqXlkneMtRASmbDeaDu4T8I3EiJsMrcLHujvqXQ-poY',3,'RE','scores',3,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('PvpeWaTUhjGNPyzHlo2LXh-Fn3ZPCqxe-RD1rknw8Cg',2,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('YDoieL0BiKBk3ZvHTMXuNFDKncNYJMt4xZqhnl9pTwI',1,'RE','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('_20m3TNRHfqF1QylodupPvQydy8-_ectggWIHBwMACQ',3,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('a73pG8yhAWfdvAFB_0gfrQhm8eBO2vHUNUcgMjDaV5g',1,'AU','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('bsfcU7AzDdSG6T-869Edc0e9RyAUZbjqW7JUMHEZvaY',2,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('h1zcSEd7UhFA53Emg9jIcpzlIMpQQa0wPl0dFbaXOSQ',3,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('iKpUMgghcgd92R9FA9e3CtQw5FsoaRHwOZX20ALUqaI',1,'AU','scores',2,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('lQEP-_9iXeIY6ttd95UU2c4e4ANzwbhvkJpWM3EZ90Y',2,'RE','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('n05ezy4GDHVjh22bzSBBwmBScftuIjSLmg6mGpQdYq0',3,'AU','scores',1,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('nAfQjrIYWrSgdV7YrRs8JZHKoAuseHPKaqoNdk82CYA',1,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('o3gSb7kollrQa0zkhV22QkVsszS7TU6Rx17YACuJtTs',3,'AU','scores',2,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('o4k3711zHpIj8F98MHWKmqXE1obA8kDnicK2OiXdZpg',3,'AU','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('pNaBR8NyxWQ_COSzC4Q_88JPRRlHXqZ6L-NFSWIGaEY',2,'RE','scores',3,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('qZyokvn01MD6NaUXtsA5pVCqyWDSZZhbx3sIob3WBPg',2,'AU','scores',1,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('rErBHkFzeTaoTXVGiFJ5q2oE1qdJtrnGyVzNk73hKHo',1,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('t8W0g8HP5XP9WJGN5sgfkXcSBP8Cu_lTR7vevSLGYbc',2,'AU','scores',2,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('ubQwVH1tcGPRJrFa95jWJ_bBSxooVa9A9QNdP6Xmjbk',2,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('v_VMEhdlsi_qZMSkV9_LvztKKo2ieMBxoE-0i7kZoH0',2,'AU','scores',4,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('yCMas9zy-5SXmCgPgs0xTeCBb41qblwFfOgBUaUJ_AM',3,'RE','pair',5,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
CREATE TABLE blind_judgements (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    judge TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    on_the_right INTEGER REFERENCES versions (id),
    -- NULL: nothing that can be read as one.
    answer TEXT CHECK (answer IS NULL OR json_valid(answer)),
    reasoning TEXT NOT NULL,
    settings TEXT NOT NULL CHECK (json_valid(settings)),
    said TEXT NOT NULL CHECK (json_valid(said)),
    usage TEXT NOT NULL CHECK (json_valid(usage)),
    cost REAL,
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "blind_judgements" VALUES(1,'02089f5c238a44c6bda809a444e73cc3',1,'judge-70b',3,NULL,'{"coherence": 3, "consistency": 4, "comment": "Sound.", "wrong_steps": []}','First the lines.','{"temperature": 0.0}','["{...}"]','{"requests": 100, "prompt": 20, "cached": 0, "completion": 0}',0.0012,'CO','2026-11-22T13:43:00.000+00:00');
CREATE TABLE blind_preferences (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    assignment TEXT NOT NULL REFERENCES blind_assignments (token),
    preference TEXT NOT NULL CHECK (preference IN ('left', 'right', 'equal', 'both bad')),
    comment TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "blind_preferences" VALUES(1,'bdc15185b5a54b129cf07032036b33d8','Ej6gTAQRzGL5gfgwPkUMZ-QIAZabKG2woPzn2X28zG0','left','','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(2,'79b2beb26dd24c2ba1d7a334723a8472','2Yp2ZP2ZCCnaTWY34uajvS-X6o-S_2HGosxnZSMVvNc','left','','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(3,'19e9b6f0e26f41c59be2fbd781afe536','GmSdsyIGVv4c-SuRw9rnhTD_S-aN8GaC9sxUOBC8iPM','left','','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(4,'db96314e3a394723a1e4f2f20caf712d','FLfQwMtc9IeIbf0aDFJjg5ydkC_7Gwv_o8JMFJWsjS0','left','','2026-11-22T13:23:00.000+00:00');
CREATE TABLE blind_scores (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    assignment TEXT NOT NULL REFERENCES blind_assignments (token),
    -- NULL: cannot tell from these data.
    coherence INTEGER CHECK (coherence BETWEEN 0 AND 5),
    consistency INTEGER CHECK (consistency BETWEEN 0 AND 5),
    comment TEXT NOT NULL,
    wrong_steps TEXT NOT NULL CHECK (json_valid(wrong_steps)),
    at TEXT NOT NULL
);
INSERT INTO "blind_scores" VALUES(1,'c7a9dcb7f8534249b15e23561e53b178','nAfQjrIYWrSgdV7YrRs8JZHKoAuseHPKaqoNdk82CYA',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(2,'d85c4327efe24e269c39f6feee70b0e6','rErBHkFzeTaoTXVGiFJ5q2oE1qdJtrnGyVzNk73hKHo',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(3,'611233963b264913b990fca287827e77','JbSaxQYrZ9a76xwkERqfcaZUqkFrbYcnks-fn43f67A',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(4,'2f38968f5f1e47768cd37368f4c10846','YDoieL0BiKBk3ZvHTMXuNFDKncNYJMt4xZqhnl9pTwI',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(5,'7c50caaa5d7847ae8c438e4f59afb9a2','PvpeWaTUhjGNPyzHlo2LXh-Fn3ZPCqxe-RD1rknw8Cg',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(6,'dd2e6bb640264a24a7eea680de3175ce','ubQwVH1tcGPRJrFa95jWJ_bBSxooVa9A9QNdP6Xmjbk',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(7,'48e48551f05a4d9ca743159cb759d202','pNaBR8NyxWQ_COSzC4Q_88JPRRlHXqZ6L-NFSWIGaEY',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(8,'b6349299bdfb4b2daa193edc1614755d','lQEP-_9iXeIY6ttd95UU2c4e4ANzwbhvkJpWM3EZ90Y',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
CREATE TABLE blind_sessions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    plan TEXT NOT NULL CHECK (json_valid(plan)),
    -- What the tasks ask, in the words of the day: task files may change while people score.
    questions TEXT NOT NULL CHECK (json_valid(questions)),
    notes TEXT NOT NULL CHECK (json_valid(notes)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "blind_sessions" VALUES(1,'9c8a959a40144a1fa360a7bc30f52235','ours against gpt','{"analysis": {"dimension": "consistency", "first": null, "gold_within": null, "margin": null, "repeats_within_1": null, "second": null, "stopping": "when every question is answered", "without_revealing": false}, "design": "same spectra", "each": 2, "earlier": "declare", "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "strata": [], "tasks": [], "training": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_sessions" VALUES(2,'2135944a8d63408a8827e15d6736d17b','ours against gpt','{"analysis": {"dimension": "consistency", "first": null, "gold_within": null, "margin": null, "repeats_within_1": null, "second": null, "stopping": "when every question is answered", "without_revealing": false}, "design": "same spectra", "each": 2, "earlier": "declare", "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "strata": [], "tasks": [], "training": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_sessions" VALUES(3,'5113b39646f44b6d8e0b7bf3009d657a','ours against gpt','{"analysis": {"dimension": "consistency", "first": null, "gold_within": null, "margin": null, "repeats_within_1": null, "second": null, "stopping": "when every question is answered", "without_revealing": false}, "design": "same spectra", "each": 2, "earlier": "declare", "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "strata": [], "tasks": [], "training": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
CREATE TABLE blind_states (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
    rubric TEXT CHECK (rubric IS NULL OR json_valid(rubric)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL,
    UNIQUE (session, state),
    CHECK ((state = 'open') = (rubric IS NOT NULL))
);
INSERT INTO "blind_states" VALUES(1,'e5e6d94550a14926ad579b3451cd5af3',1,'open','{"version": "1", "note": "The published evaluation names two anchors, 0 (complete hallucination) and 5 (fully correct). The anchors 1 to 4, the questions and the choices between two traces were written for this program.", "cannot_tell": {"short": "cannot tell", "text": "These data do not let me judge it: too noisy, too short a range, or outside what I know. It counts as an answer, not as a low score."}, "scales": [{"key": "coherence", "title": "Coherence", "question": "Does each step follow from what was seen before, and the answer from the steps? Judge the reasoning, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "No line of thought. The steps refer to things that were never looked at or said, and the answer comes from nowhere.", "published": true}, {"score": 1, "short": "mostly incoherent", "text": "Single sentences make sense, but steps contradict each other or do not lead on, and the answer does not follow.", "published": false}, {"score": 2, "short": "broken", "text": "There is a line of thought with a break in it that matters: a contradiction left standing, or an answer that the steps do not bear.", "published": false}, {"score": 3, "short": "loose", "text": "The answer follows in the main, but a step is missing, needless or repeated, or a window is opened and then not used.", "published": false}, {"score": 4, "short": "sound, small lapses", "text": "Each step has its reason and the answer follows. A slip or two that changes nothing.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every step follows from what was seen, alternatives are weighed where there are any, and the answer follows from all of it.", "published": true}]}, {"key": "consistency", "title": "Physical consistency", "question": "Is what it says about the spectrum there, and does the physics hold: lines, wavelengths, frames, widths, what they mean? Judge the claims, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "What it describes is not in the spectrum, or is physically impossible throughout.", "published": true}, {"score": 1, "short": "mostly wrong", "text": "One or two claims hold. Most features are misnamed, misplaced or not there.", "published": false}, {"score": 2, "short": "a serious error", "text": "Several claims hold, but one that the argument rests on is wrong: a line that is not there, the wrong frame, noise or sky taken for a feature.", "published": false}, {"score": 3, "short": "right in the main", "text": "The features that decide are right. Others are wrong, overstated, or claimed where the data cannot show them.", "published": false}, {"score": 4, "short": "right, small errors", "text": "All features of weight are there and rightly read. A small error in a number, a name or a strength.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every claim can be seen in the spectrum and is rightly interpreted, and noise and limits of the data are named where they matter.", "published": true}]}], "preference_question": "Whose reasoning about this spectrum is better? Judge the reasoning, regardless of the verdict.", "choices": [{"key": "left", "short": "left better", "text": "The reasoning on the left is better: sounder, or truer to the spectrum."}, {"key": "right", "short": "right better", "text": "The reasoning on the right is better: sounder, or truer to the spectrum."}, {"key": "equal", "short": "equal", "text": "Both are about as good, and good enough to be of use."}, {"key": "both bad", "short": "both bad", "text": "Neither is of use. Choose this rather than the less bad one."}]}','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_states" VALUES(2,'b96fb83089844e2d8bcf8c4b85e5f831',2,'open','{"version": "1", "note": "The published evaluation names two anchors, 0 (complete hallucination) and 5 (fully correct). The anchors 1 to 4, the questions and the choices between two traces were written for this program.", "cannot_tell": {"short": "cannot tell", "text": "These data do not let me judge it: too noisy, too short a range, or outside what I know. It counts as an answer, not as a low score."}, "scales": [{"key": "coherence", "title": "Coherence", "question": "Does each step follow from what was seen before, and the answer from the steps? Judge the reasoning, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "No line of thought. The steps refer to things that were never looked at or said, and the answer comes from nowhere.", "published": true}, {"score": 1, "short": "mostly incoherent", "text": "Single sentences make sense, but steps contradict each other or do not lead on, and the answer does not follow.", "published": false}, {"score": 2, "short": "broken", "text": "There is a line of thought with a break in it that matters: a contradiction left standing, or an answer that the steps do not bear.", "published": false}, {"score": 3, "short": "loose", "text": "The answer follows in the main, but a step is missing, needless or repeated, or a window is opened and then not used.", "published": false}, {"score": 4, "short": "sound, small lapses", "text": "Each step has its reason and the answer follows. A slip or two that changes nothing.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every step follows from what was seen, alternatives are weighed where there are any, and the answer follows from all of it.", "published": true}]}, {"key": "consistency", "title": "Physical consistency", "question": "Is what it says about the spectrum there, and does the physics hold: lines, wavelengths, frames, widths, what they mean? Judge the claims, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "What it describes is not in the spectrum, or is physically impossible throughout.", "published": true}, {"score": 1, "short": "mostly wrong", "text": "One or two claims hold. Most features are misnamed, misplaced or not there.", "published": false}, {"score": 2, "short": "a serious error", "text": "Several claims hold, but one that the argument rests on is wrong: a line that is not there, the wrong frame, noise or sky taken for a feature.", "published": false}, {"score": 3, "short": "right in the main", "text": "The features that decide are right. Others are wrong, overstated, or claimed where the data cannot show them.", "published": false}, {"score": 4, "short": "right, small errors", "text": "All features of weight are there and rightly read. A small error in a number, a name or a strength.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every claim can be seen in the spectrum and is rightly interpreted, and noise and limits of the data are named where they matter.", "published": true}]}], "preference_question": "Whose reasoning about this spectrum is better? Judge the reasoning, regardless of the verdict.", "choices": [{"key": "left", "short": "left better", "text": "The reasoning on the left is better: sounder, or truer to the spectrum."}, {"key": "right", "short": "right better", "text": "The reasoning on the right is better: sounder, or truer to the spectrum."}, {"key": "equal", "short": "equal", "text": "Both are about as good, and good enough to be of use."}, {"key": "both bad", "short": "both bad", "text": "Neither is of use. Choose this rather than the less bad one."}]}','CO','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_states" VALUES(3,'141f91d7db8248c4a7734415eb62fd78',1,'closed',NULL,'CO','2026-11-22T13:43:00.000+00:00');
CREATE TABLE decision_figures (
    person TEXT, round TEXT, day TEXT, task TEXT, batch TEXT, decisions INTEGER NOT NULL,
    PRIMARY KEY (person, round, day, task, batch)
) WITHOUT ROWID;
INSERT INTO "decision_figures" VALUES('AU','audit','2026-11-22','cv','november',3);
INSERT INTO "decision_figures" VALUES('AX','audit','2026-11-22','cv','november',1);
INSERT INTO "decision_figures" VALUES('RE','revision','2026-11-22','cv','november',3);
INSERT INTO "decision_figures" VALUES('RE','screening','2026-11-22','cv','',1);
INSERT INTO "decision_figures" VALUES('RE','screening','2026-11-22','cv','november',3);
INSERT INTO "decision_figures" VALUES('VO','vote','2026-11-22','cv','november',1);
INSERT INTO "decision_figures" VALUES('ZO','vote','2026-11-22','cv','november',1);
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    person TEXT NOT NULL REFERENCES people (initials),
    round TEXT NOT NULL,
    verb TEXT NOT NULL,
    reason TEXT NOT NULL,
    comment TEXT NOT NULL,
    withdraws INTEGER UNIQUE REFERENCES decisions (id),
    rules INTEGER NOT NULL REFERENCES settings (id),
    at TEXT NOT NULL,
    CHECK ((verb = 'undo') = (withdraws IS NOT NULL))
);
INSERT INTO "decisions" VALUES(1,'0a2722d0bc614ecd87efff1e3553b22f',1,1,'RE','screening','keep','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(2,'de021756cbee4a49b77100732237c138',1,1,'RE','revision','submit','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(3,'2a9d8e52e4724a52b6d0b19a3a626f6e',1,1,'AU','audit','pass','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(4,'2cf21f16b92b4c64864752131c3e4b8d',1,1,'AX','audit','pass','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(5,'7809d7b0846f4bc1af6160a1cccf172a',1,1,'VO','vote','approve','','Fine.
Two lines.',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(6,'ec439f50b0d74889b7d50f8ae028fd3b',1,1,'VO','vote','undo','','',5,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(7,'70a2b4ad5a8a4e73a0271dabd64df5eb',1,1,'VO','vote','approve','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(8,'a4bfd6dfbcd444fda305b3b4a02f0177',1,1,'ZO','vote','approve','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(9,'0ba80165ba1d478ab81878eeb64a7b45',2,2,'RE','screening','keep','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(10,'9696e16c1abd4140bafe9d794c47ddf0',2,2,'RE','revision','submit','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(11,'491aa015f86841e6ab8509c65a421df9',2,2,'AU','audit','return','','look again',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(12,'c427e2118dac4c45a6c13aad166d76c3',7,7,'RE','screening','keep','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(13,'ed7a48df10d142ce8f67bd2366b9601b',7,7,'RE','revision','submit','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(14,'48fda6a611f341dd9e36b62ed0db8df8',7,7,'AU','audit','pass','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(15,'367eb98ea48b40a4a2e3c696e4bcc8e4',9,9,'RE','screening','reject','bad_data','',NULL,2,'2026-11-22T12:03:00.000+00:00');
CREATE TABLE exports (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (initials),
    manifest TEXT NOT NULL CHECK (json_valid(manifest)),
    at TEXT NOT NULL
);
INSERT INTO "exports" VALUES(1,'first','CO','{"items": [1], "note": "größer"}','2026-11-22T12:03:00.000+00:00');
CREATE TABLE grids (
    sha256 TEXT PRIMARY KEY,
    pixels INTEGER NOT NULL,
    wavelength_type TEXT NOT NULL CHECK (wavelength_type IN ('<f4', '<f8')),
    wavelength BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO "grids" VALUES('c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626',300,'<f8',X'789CEDC1F923138A03007047B2353247ACD058CD726D29D764C895AB7DB7F608152B42CB44C815CB99A369F12CE67AE426B98F5C89468A1C092B32595A52B926E69BF723F5DE0FDF3FE0FBF908E8861AFB0D59E7CF3E0F5C6BF5F6743D9678336CF7B9901922844843BD916D2811B032CB0FBF8B703F46675A9BD2A57B8E5E495E750BDF0D9F30DF88CC6346B017A0633D299822945E4E701A706179ADB78F567733363FF94107B0A41D79854475EB481D8CAC768C4605C6B41499BC8F1CF17C393D51040173B2941FDBD0BB4AA054D3D1D63A55362945C1E850A510244E3E8C6FB6594F975B5B2FB9202AA44C2B571A7F9F96C77DA51D314DD60CD910E7725BC6B307DF5B7F4A50BC648CE430099F2DD6CDD2519CE1AFEBF07E0F63E345DB708946FDE4374686C9A872F82575B7C35AFBC968236DA7C751D93257F1FBF6BA27F58A9DABCE5865103C0AA192F992F68EBD5A2C889432278C4F116D5E0F4F352349C465AD1CD520426A24461E8DE1CC235FE140565B029FF6FC177253BE1590FC42EB98D9C71AE7BAAE56B0DF5471F085FE1ADFF934B26487CBB397788B5D0E417297846081068653B22127743FDFFEF2088607F3BC32EF1B13AEABB045E6C6A0624B48A45FAACD3541F5539CFEDD2CD6EC11D5E756D66F43656589CECB05215215301E41A6B761EEB0107B0DCF22A6C3735393E45ED89ECE551774A0595A17D588DE4B4E2F966FE99C324CE0E367182278E7D2F0A18BD552A50158FE11FFEBCDEFA31DA01D066D8594FD14112CEEC291E77D2A049B44A5AA20C2808246C1A265D98FCFD083973DD3AF539C9A83D24F0B5E380D82479268B27FC2CE7B4BE4CA29023E25DF7382012560F01F11C5FE02C971B144242EA4961408912E4C37CBD432BD00830517DEAF6222F2A2FE72CAE23A6503EE8D2AFB5CA32EC6AC3131A1015B02878FF34E09CB5E97DBE382CA9BD5EA17395ABDE25BA0E083467CB1DAB5BCBA34D5105B5939662A71C9C3D6827655E19BF6C9008DE1E19CAA98DCC41130EB75FEA2FFFB657F04DBBF85C16B9D713DEEFE53AA196CE8D975FBABD19367F975C4BD48FD12C1FE6CD13255943723F0D91F2BB7C6D889CC94EF7309F31AD7D87530D29BDAB34A7EF5AEDC91C26F5676F9BC4D5FE96A79F5275DF0B71FED0E78E2F87FE2C9C8A9112F01E08A1169D75F1384E64E7839D44123DE81AAAED7F1AEF23C44BE0440CBA48ECE99FA6C461781036908A0B88CE844AC6422A03C4BC2246043DD4BB1ADB7DB6CDA485C78268026FD918FE50CAA4AB7130D73DEDADFA84DBA7DC2020BD0A2AD99BBE8F62915D6F68BDD0DE51D73EBA482E24E3728B249B09BDFD7E5A706E3D28B1DED715B023A3A62CF830EB1CA72999AD30B976CEA2BCDA242B49FA212A78DEAB0FBE1141DFB0511170088AC73551633A7F0C1D46CDE14275FB1C7D0E6841CA732C806A9762A69AB9CDE6305B55FDC0C0F1796EB046D647C159A8CDF436E5C5239C7987798CD4EAA3B34BDE48E89B3BAE3DCDA7CBEA23614482AEC1E1C1A662D2328C26D8D1B7729AFD34768E37528FCE11A1184F266772446787264F1E4CBAC561D69D743244C49BDCFA418602209D16CC7CDF2F5790099F87E055B9EC8E3176CEEE5DC01878E1DA34B94FA90CAF495AFA1C8DA34AA5E46E7E3BB58C18610FBB3495B6D2376BAD9C932467215400CC1C9F9F2ED1726CBDFCD7FAA8D8A4F3B27846126BDBE04C98EF5FEF0B78AD16B600C389BA59C0E4710803864C5E003B56BC176CB812C8447CE1B598F7EC2960040D93676089979A0CCF667273D3C302283B9EB8F06D54796DFCA831D6DB0EED4DE7D2D2B7AD1E37AB99277C0B9BAE3D17ABC76DA55BC09DAD0DAF556F934D4AB054259242FC740BBFD35973A3329644F52484A2307EA5E2B7EFD83CB6CA054B3B7DA726F714A42527AF5A888C96D967E3E84817872597624CBEF8C09DA18E793FE4AEA621B9C215F6A3E9FEBAA29FA953DF31D74DCB3F4877DBB4EB3ED673A4EEECB407B6B0F1B6048194466EECBD16151FF7370933BBB20A24E2CE039F658BEF6957F931BECEA70DE8FDE274E7CAA5D6F3977FF2C42746D6DB78A03FDA365A37E9FF741767D46726AD910F04C855CAA52870F4A88F396BD71C8B50274F3672A7AA92D233E21BB8B6F3904B449E35A3E54BC7FA018331987E6B5513D6DF58F6A61CEF8310640670AB63EFD94513371204733AA7A2657403034CE3382FEB0FBDD320866708614C5A8E99BE103F7C19006A70844EF90D8949CF2A6EEA1A9F91F2252500DB42581E813164F7F50D5FE62626E4508ACA88E3E65EFE647A1669636315F7F58DCDAABA06E6075D623203A25AFAA6360F2CB26E8802ADACAD133288E5E54FF6C94B32AB20FAE6361EF7123EE7E7153EF047703A4A089C1BAFA46A516D433C7B97CB183A89384CB37E21915ED831F5645F76B18E1DD6EC46756768E7C5C17533A6EE9E47D2BB5F8F1C0CC2A5051CBC2891C9956D63E3CC7071F4663DD82EFE435BE64F340CABA761783A8F94D03B31B60150CE1CA2DFAC32ED622E0A08E9D5B584A69E7F83751A82ED623825EC99C5A139551D2D0B7C0BB9082A26959A50D4F5FBDE3F284C18A6A7AE67817EF90B8D48A8A87DB2AB73DDA56F52FAAFFA9E69F6A7F57F79BFADF34FCAAF1174DBF68DEE9F14E2D3BB4EED0B6AD7D5BC7B627FFA2730793FFFB9FFD0D7CFB8B39');
CREATE TABLE imports (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    -- Bytes and time of the last change (ns): a changed file is not resumed.
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    spectra TEXT,
    batch TEXT NOT NULL,
    skip_bad INTEGER NOT NULL,
    same_spectrum TEXT NOT NULL CHECK (same_spectrum IN ('import', 'leave out', 'ask')),
    uploaded INTEGER NOT NULL,
    person TEXT REFERENCES people (initials),
    -- The last item before the import: only items up to it are "already here".
    newest INTEGER NOT NULL,
    step TEXT NOT NULL CHECK (step IN ('check', 'write')),
    state TEXT NOT NULL CHECK (state IN ('running', 'cancelled', 'failed', 'refused', 'done')),
    -- Of the present step: bytes and lines read, and what was found in them.
    "offset" INTEGER NOT NULL,
    line INTEGER NOT NULL,
    counts TEXT NOT NULL CHECK (json_valid(counts)),
    message TEXT NOT NULL,
    seconds REAL NOT NULL,
    started_at TEXT NOT NULL,
    changed_at TEXT NOT NULL
);
INSERT INTO "imports" VALUES(1,'/nowhere/rows.jsonl',1000,1000000000000000000,NULL,'',0,'import',0,'CO',9,'check','running',0,0,'null','',0.0,'2026-11-22T13:43:00.000+00:00','2026-11-22T13:43:00.000+00:00');
CREATE TABLE inspections (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    -- Redshift in the medium of the spectrum; NULL: none given.
    z REAL CHECK (z > -1),
    quality INTEGER CHECK (quality BETWEEN 0 AND 4),
    issues TEXT NOT NULL,
    spectype TEXT NOT NULL CHECK (spectype IN ('', 'STAR', 'GALAXY', 'QSO')),
    comment TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "inspections" VALUES(1,'3a4a23632060441bb9c766a48598af99',8,'RE',0.0012,3,'R','','Blue shift.','2026-11-22T13:03:00.000+00:00');
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    spectrum TEXT REFERENCES spectra (sha256),
    name TEXT NOT NULL,
    task TEXT NOT NULL,
    drafter_kind TEXT NOT NULL,
    drafter_name TEXT NOT NULL,
    label TEXT CHECK (label IN ('YES', 'NO')),
    simulated INTEGER NOT NULL,
    batch TEXT NOT NULL,
    survey TEXT NOT NULL,
    snr REAL,
    added_at TEXT NOT NULL
);
INSERT INTO "items" VALUES(1,'sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0','034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','spec-0000.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(2,'sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6','034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','spec-0000.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(3,'sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933','65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','spec-0001.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(4,'sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03','65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','spec-0001.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(5,'sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d','179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','spec-0002.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(6,'sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7','179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','spec-0002.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(7,'sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787','0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','spec-0003.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(8,'sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e','0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','spec-0003.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(9,'sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',NULL,'gone.fits','cv','baseline','rule 1',NULL,0,'','',NULL,'2026-11-21T12:00:00.000+00:00');
PRAGMA writable_schema=ON;
INSERT INTO sqlite_master(type,name,tbl_name,rootpage,sql)VALUES('table','items_text','items_text',0,'CREATE VIRTUAL TABLE items_text USING fts5 (text, content='''', tokenize=''trigram'')');
CREATE TABLE 'items_text_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO "items_text_config" VALUES('version',4);
CREATE TABLE 'items_text_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO "items_text_data" VALUES(1,X'09812F');
INSERT INTO "items_text_data" VALUES(10,X'000000000109090009010101020101030101040101050101060101070101080101090101');
INSERT INTO "items_text_data" VALUES(137438953473,X'000000A004300A313401021001032D303001020601032E666901020B0103302E6601020A0202302E0102090301300104070301033132330102140202343801021101033233340102150103333435010216010334383101021201033831320102130103632D30010205010365632D010204010366697401020C010369747301020D01037065630102030103730A3101020F02027065010202010374730A01020E0408080808070708070808080808080808080807');
INSERT INTO "items_text_data" VALUES(274877906945,X'000000A004300A313402021001032D303002020601032E666902020B0103302E6602020A0202302E0202090301300204070301033132330202140202343802021101033233340202150103333435020216010334383102021201033831320202130103632D30020205010365632D020204010366697402020C010369747302020D01037065630202030103730A3102020F02027065020202010374730A02020E0408080808070708070808080808080808080807');
INSERT INTO "items_text_data" VALUES(412316860417,X'000000A604300A313403021001032D303003020601032E666903020B01033030300302070301310302080202312E0302090103312E6603020A020232330302140202343803021101033233340302150103333435030216010334383103021201033831320302130103632D30030205010365632D030204010366697403020C010369747303020D01037065630302030103730A3103020F02027065030202010374730A03020E040808080806070807070808080808080808080807');
INSERT INTO "items_text_data" VALUES(549755813889,X'000000A604300A313404021001032D303004020601032E666904020B01033030300402070301310402080202312E0402090103312E6604020A020232330402140202343804021101033233340402150103333435040216010334383104021201033831320402130103632D30040205010365632D040204010366697404020C010369747304020D01037065630402030103730A3104020F02027065040202010374730A04020E040808080806070807070808080808080808080807');
INSERT INTO "items_text_data" VALUES(687194767361,X'000000A604300A313405021001032D303005020601032E666905020B01033030300502070301320502080202322E0502090103313233050214020234380502110103322E6605020A020233340502150103333435050216010334383105021201033831320502130103632D30050205010365632D050204010366697405020C010369747305020D01037065630502030103730A3105020F02027065050202010374730A05020E040808080806070807080708080808080808080807');
INSERT INTO "items_text_data" VALUES(824633720833,X'000000A604300A313406021001032D303006020601032E666906020B01033030300602070301320602080202322E0602090103313233060214020234380602110103322E6606020A020233340602150103333435060216010334383106021201033831320602130103632D30060205010365632D060204010366697406020C010369747306020D01037065630602030103730A3106020F02027065060202010374730A06020E040808080806070807080708080808080808080807');
INSERT INTO "items_text_data" VALUES(962072674305,X'000000A604300A313407021001032D303007020601032E666907020B01033030300702070301330702080202332E07020901033132330702140202343807021101033233340702150103332E6607020A02023435070216010334383107021201033831320702130103632D30070205010365632D070204010366697407020C010369747307020D01037065630702030103730A3107020F02027065070202010374730A07020E040808080806070807080807080808080808080807');
INSERT INTO "items_text_data" VALUES(1099511627777,X'000000A604300A313408021001032D303008020601032E666908020B01033030300802070301330802080202332E08020901033132330802140202343808021101033233340802150103332E6608020A02023435080216010334383108021201033831320802130103632D30080205010365632D080204010366697408020C010369747308020D01037065630802030103730A3108020F02027065080202010374730A08020E040808080806070807080807080808080808080807');
INSERT INTO "items_text_data" VALUES(1236950581249,X'0000003C04302E66690902060103652E6609020501036669740902070103676F6E090202010369747309020801036E652E09020401036F6E6509020304080808080808');
CREATE TABLE 'items_text_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
INSERT INTO "items_text_docsize" VALUES(1,X'15');
INSERT INTO "items_text_docsize" VALUES(2,X'15');
INSERT INTO "items_text_docsize" VALUES(3,X'15');
INSERT INTO "items_text_docsize" VALUES(4,X'15');
INSERT INTO "items_text_docsize" VALUES(5,X'15');
INSERT INTO "items_text_docsize" VALUES(6,X'15');
INSERT INTO "items_text_docsize" VALUES(7,X'15');
INSERT INTO "items_text_docsize" VALUES(8,X'15');
INSERT INTO "items_text_docsize" VALUES(9,X'07');
CREATE TABLE 'items_text_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
INSERT INTO "items_text_idx" VALUES(1,X'',2);
INSERT INTO "items_text_idx" VALUES(2,X'',2);
INSERT INTO "items_text_idx" VALUES(3,X'',2);
INSERT INTO "items_text_idx" VALUES(4,X'',2);
INSERT INTO "items_text_idx" VALUES(5,X'',2);
INSERT INTO "items_text_idx" VALUES(6,X'',2);
INSERT INTO "items_text_idx" VALUES(7,X'',2);
INSERT INTO "items_text_idx" VALUES(8,X'',2);
INSERT INTO "items_text_idx" VALUES(9,X'',2);
CREATE TABLE leases (
    id INTEGER PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    round TEXT NOT NULL,
    taken_at TEXT NOT NULL,
    renewed_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended TEXT CHECK (ended IN ('decided', 'released', 'round over', 'expired', 'deactivated'))
);
INSERT INTO "leases" VALUES(1,'HcL8p8nvF9pLoJXBesd8XxL3hLHVWB-Wo-IjTMKI5go',1,'RE','screening','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(2,'iQbgldVk7--771YgSdKwrB-erIMyamtJRv2AeR7Cz30',1,'RE','revision','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(3,'Elq2ZkwsOdAE_nytc7pL25teMG3xdzfKV3udwQx6ND4',1,'AU','audit','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(4,'wtHoTw1KhuskRg48Xr_RzSBjClW-jov4J5fWwFnrN7w',1,'AX','audit','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(5,'oJXRHwE0OkDoK-H7QV1XHwjxQMtSJjg3NT3hvzHmAi8',1,'VO','vote','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(6,'yR7ueQlEPM3rR0XinfgClUrJolRFQn9nV-cxSI4RKoQ',1,'VO','vote','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(7,'TLwj3mlVoSv6a0y0AY5-PjTBElm79DopYcbVx5Y3AFI',1,'ZO','vote','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(8,'VL5qywZP-l9aTQjfJ2xWtwpiaFcJwZk0Y8u4zOQFAMk',2,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(9,'PTjz29esO6pEP1JLnvAEojlnqjttcsie3KYfmTbCFVM',2,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(10,'8dm30fyDhMEHSFtbMpMblW_I2SQ23k7wrZE1spw7aiM',2,'AU','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(11,'aza1fykO_m162NGcyuzwLjbIouUAipRXG-1MFSJXBm8',2,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(12,'5960jcpNtFYBof4eDH4XMeccdwxE6_ZdOCGit2HHoRQ',7,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(13,'Euex0dWmLKAconQykqDJDg03LM1xzWFmx2z0mYtgeaY',7,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(14,'_GqmVoHPtIAl7xru5ixR14GfE5zxt3MzwIk8dWlIudc',7,'AU','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(15,'CcgyCZ53fuidwwfy5HlhRq7q6jmYcYeFvqRGycmoFLY',9,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(16,'lcjOQiDv6sTYoXRuiPagE3S8lwk9miN-s2sk929trNo',3,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','released');
INSERT INTO "leases" VALUES(17,'Jk9-f6mUQciKxN_pL9QaJ-gf1PuzqlunYgW-6LfVoJU',7,'AX','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(18,'bO-6sqP52fJqmlNxqQdL3bMXmKlOQPH3mJVZz10LwrU',4,'VO','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(19,'trE7Y1nNZAXn1FkTRrr0pIyFq_cpvixXtIWpmM97h6I',4,'RE','screening','2026-11-22T13:03:00.000+00:00','2026-11-22T13:03:00.000+00:00','2026-11-22T13:18:00.000+00:00',NULL);
CREATE TABLE log (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    at TEXT NOT NULL,
    -- NULL: whoever holds the file itself, or somebody who is not signed in.
    person TEXT REFERENCES people (initials),
    what TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL CHECK (json_valid(details)),
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
INSERT INTO "log" VALUES(1,'2026-11-21T12:00:00.000+00:00',NULL,'log begun','settings','{"count":1,"facts":{"settings":[1,1,1,"3210523c74ecf07946c85219665dea8323b506cfb0fbdefc8c0fc2de32d2cb04"]}}','0000000000000000000000000000000000000000000000000000000000000000','08c9553810680ecd2fc42b9d01b12f7b842ff7d850d12a608e9b74310391f8f4');
INSERT INTO "log" VALUES(2,'2026-11-21T12:00:00.000+00:00',NULL,'person added','RE','{"people":{"RE":"4ffc31bd6030bebde8466ad26b5ecbb6adab970dc19f71b2ab24a9e7c46c6424"},"roles":["reviewer"]}','08c9553810680ecd2fc42b9d01b12f7b842ff7d850d12a608e9b74310391f8f4','b168938ed1b3b8abd7cbba3e8fc23b0000ea152361e74e47b2fa02998dbcb978');
INSERT INTO "log" VALUES(3,'2026-11-21T12:00:00.000+00:00',NULL,'person added','AU','{"people":{"AU":"ba41626517611142e220083da52d29b95b8f219fd29923733092bbd395ba1442"},"roles":["auditor"]}','b168938ed1b3b8abd7cbba3e8fc23b0000ea152361e74e47b2fa02998dbcb978','f06e373e245777eefd7dc54500697202aa367d32e945dc7dad37ad862c6773ea');
INSERT INTO "log" VALUES(4,'2026-11-21T12:00:00.000+00:00',NULL,'person added','AX','{"people":{"AX":"94324b0b0cedfdc3eadb0c9414f9c13249be615ad7e39e3fae995d07d9fb9bf6"},"roles":["auditor"]}','f06e373e245777eefd7dc54500697202aa367d32e945dc7dad37ad862c6773ea','adf5802a142688621324f264e7fda23983e9666b537c4ba864e02e85f91ac348');
INSERT INTO "log" VALUES(5,'2026-11-21T12:00:00.000+00:00',NULL,'person added','VO','{"people":{"VO":"4a4699490db6743b872754a1253a2a58ce22b0339bb7f3deb3bf9967ba154c40"},"roles":["reviewer"]}','adf5802a142688621324f264e7fda23983e9666b537c4ba864e02e85f91ac348','54b85c6ccdaa6618996b265dc377c7eff82a2b8e6b9dc75f21c0ec77fc1f4c00');
INSERT INTO "log" VALUES(6,'2026-11-21T12:00:00.000+00:00',NULL,'person added','CO','{"people":{"CO":"dd864c1b73198be0ff4b303ddc7870025b6312f0e25267c725c6a95a70b6c979"},"roles":["coordinator"]}','54b85c6ccdaa6618996b265dc377c7eff82a2b8e6b9dc75f21c0ec77fc1f4c00','d7ccfff7da2224c36e51f16c40008df36606debb65dd8d85fdc5f589aa90e3e9');
INSERT INTO "log" VALUES(7,'2026-11-21T12:00:00.000+00:00',NULL,'person added','JU','{"people":{"JU":"a0479ed58460e5069fe62c36dc17a3d60c4cf0b0c98415d591ff3867e6c81b84"},"roles":["auditor"]}','d7ccfff7da2224c36e51f16c40008df36606debb65dd8d85fdc5f589aa90e3e9','2cc1e509d905f784a85dcec7dc0a46dde24c793d8cb84cdf1fb57250ef028a05');
INSERT INTO "log" VALUES(8,'2026-11-21T12:00:00.000+00:00',NULL,'person added','ZO','{"people":{"ZO":"3dea8da6bdec72458b34cc870f624b7254c5dd43726ea6917c820b9c79a36255"},"roles":["auditor","reviewer"]}','2cc1e509d905f784a85dcec7dc0a46dde24c793d8cb84cdf1fb57250ef028a05','b7c5119e5cf2df123cf645ae817f50070e05ee835fa7809f428fa5ca294fe776');
INSERT INTO "log" VALUES(9,'2026-11-21T12:00:00.000+00:00','CO','rules set','rules','{"before":{"approve_at":2,"auditors":2,"reject_at":2,"solo":false,"votes":2},"facts":{"settings":[2,2,1,"6a1085363c13c03b0bbad93ffed0cc6fc69d7ebac2571fe1df654470e4d00161"]},"rules":{"approve_at":2,"auditors":2,"reject_at":2,"solo":false,"votes":3}}','b7c5119e5cf2df123cf645ae817f50070e05ee835fa7809f428fa5ca294fe776','7591bb4a1f02453c569c700a159887f1c41a7ee9bcefd1c47e9ac77bf9245528');
INSERT INTO "log" VALUES(10,'2026-11-21T12:00:00.000+00:00','CO','setting set','campaign','{"facts":{"settings":[3,3,1,"7026fece3c7ac51c65b625007ad5f8e0b5878fb46f9323153cf39438e1734d44"]}}','7591bb4a1f02453c569c700a159887f1c41a7ee9bcefd1c47e9ac77bf9245528','b41acc86505a8d81991875954bb16d63dc075536e8740270dc2a89f634526b65');
INSERT INTO "log" VALUES(11,'2026-11-21T12:00:00.000+00:00',NULL,'items added','items 1 to 9','{"count":9,"facts":{"items":[1,9,9,"9ce4e91978a89fe5853fc246b340d09d2d9931be2e3ee777af22c9a5282e6833"],"versions":[1,9,9,"9e605eaa17f935b1b9391740af603a762ec3f8f06fea4f443db2a08ddc5480bd"]}}','b41acc86505a8d81991875954bb16d63dc075536e8740270dc2a89f634526b65','924b5780daf5787e0bee89cde4765a32c15bdda9b381bc90bc528bc6013e35f2');
INSERT INTO "log" VALUES(12,'2026-11-22T12:00:00.000+00:00','RE','decided','item 1','{"facts":{"decisions":[1,1,1,"c7d9580f211c648f51c9d6348e8b7f245e22042485807424a2623ddd2383f42e"]},"round":"screening","verb":"keep","version":1}','924b5780daf5787e0bee89cde4765a32c15bdda9b381bc90bc528bc6013e35f2','40bf9816817211e3f94be690cf364da4ccdb96500bdba8cb0a77185359b81941');
INSERT INTO "log" VALUES(13,'2026-11-22T12:00:00.000+00:00','RE','decided','item 1','{"facts":{"decisions":[2,2,1,"1a5d24eaac3bed42ccbd8b8100fcec74c5c56672db2eeb6f108cf13e51e1a89d"]},"round":"revision","verb":"submit","version":1}','40bf9816817211e3f94be690cf364da4ccdb96500bdba8cb0a77185359b81941','15a6c353d7c1ae6ed65f5047de055b8a92981ac2759d27e0774aca253a0dc6f9');
INSERT INTO "log" VALUES(14,'2026-11-22T12:00:00.000+00:00','AU','decided','item 1','{"facts":{"decisions":[3,3,1,"64b6d496d5ccaa5fc113d95c9bbe4a24ed953f04d88357daaeadf768f897b704"]},"round":"audit","verb":"pass","version":1}','15a6c353d7c1ae6ed65f5047de055b8a92981ac2759d27e0774aca253a0dc6f9','389841fb32aefc2a3a68c088296ec99d899497a8afef1c32a09431a07c6684f4');
INSERT INTO "log" VALUES(15,'2026-11-22T12:00:00.000+00:00','AX','decided','item 1','{"facts":{"decisions":[4,4,1,"bd4227c2ee9d486bf1d97084e17f30c35f5390787ea0319f5b41a3335f46a4db"]},"round":"audit","verb":"pass","version":1}','389841fb32aefc2a3a68c088296ec99d899497a8afef1c32a09431a07c6684f4','43a8af8ba03dd23e8d3da4087def8b20d40391840ac0ff0133d14bed225200e1');
INSERT INTO "log" VALUES(16,'2026-11-22T12:00:00.000+00:00','VO','marked','item 1','{"facts":{"marks":[1,1,1,"b137249bb97595a153d2386413e8dab9dfc620ca3e36d240c6061d83a5f2d427"]},"mark":"hallucinated feature","step":"s3","version":1}','43a8af8ba03dd23e8d3da4087def8b20d40391840ac0ff0133d14bed225200e1','148f9242a3bd696c87f1006354ceaabdf8f0cb30f986cffaf446c22b147399d6');
INSERT INTO "log" VALUES(17,'2026-11-22T12:00:00.000+00:00','VO','verdict committed','item 1','{"facts":{"verdicts":[1,1,1,"5315470dab9b5a6f8b1b4dbf2ea6f2aa2859007a36f97a29eab1e7a76a267e6c"]},"verdict":"cannot tell","version":1}','148f9242a3bd696c87f1006354ceaabdf8f0cb30f986cffaf446c22b147399d6','9fd15adffc8fc6d11302476121ba906aa8a16e315e10c400047bb86b41a7e357');
INSERT INTO "log" VALUES(18,'2026-11-22T12:00:00.000+00:00','VO','decided','item 1','{"facts":{"decisions":[5,5,1,"df946a745b9d1f36b53e8a371cfd41327bef333225c1f30938f9dcf07a990ac2"]},"round":"vote","verb":"approve","version":1}','9fd15adffc8fc6d11302476121ba906aa8a16e315e10c400047bb86b41a7e357','01e6449120f0780fe7137f4140b111ace09e48f494ac70eb5932d1023906d1d0');
INSERT INTO "log" VALUES(19,'2026-11-22T12:00:00.000+00:00','VO','undone','item 1','{"facts":{"decisions":[6,6,1,"ca0da27250bbd13901877c02f8c20de3970e1c4577a6b61b9ee05137a14593d5"]},"round":"vote","verb":"undo","version":1,"withdraws":5}','01e6449120f0780fe7137f4140b111ace09e48f494ac70eb5932d1023906d1d0','1d00661e3e87d8de1209a35796a84be42c8b85219fa28f45bb3c2dac056cd75e');
INSERT INTO "log" VALUES(20,'2026-11-22T12:03:00.000+00:00','VO','decided','item 1','{"facts":{"decisions":[7,7,1,"b0f276cf80af931c9f73d764069945b65e7ffa566c99c950d82e16ef8237573c"],"work_times":[1,1,1,"599e532d4b5fbf83482bf4db8963af89d5828c26742c8779ecf76d7612c83945"]},"round":"vote","verb":"approve","version":1}','1d00661e3e87d8de1209a35796a84be42c8b85219fa28f45bb3c2dac056cd75e','8ecbe2af8bd7990983e74aff1614ae04be3b0f423c0ac01c1aad1264728a71f5');
INSERT INTO "log" VALUES(21,'2026-11-22T12:03:00.000+00:00','ZO','decided','item 1','{"facts":{"decisions":[8,8,1,"9c4f0f518621961b73af514afa1ed7b6e76d5044b96233905b3dbef47b0197ae"]},"round":"vote","verb":"approve","version":1}','8ecbe2af8bd7990983e74aff1614ae04be3b0f423c0ac01c1aad1264728a71f5','aa9b790a53671a2281e9df013ea66af068530161c030804178e32a2ae83b1f9b');
INSERT INTO "log" VALUES(22,'2026-11-22T12:03:00.000+00:00','CO','exported','first','{"facts":{"exports":[1,1,1,"aa384363c82d296e8c7af99c87200923b473a4ea4d5ebe282b4b1d50979f5a7f"]}}','aa9b790a53671a2281e9df013ea66af068530161c030804178e32a2ae83b1f9b','6143a725d98f005830adf0c899d96395ab0ff6d508ca6fdfc55a0d84308b4705');
INSERT INTO "log" VALUES(23,'2026-11-22T12:03:00.000+00:00','RE','decided','item 2','{"facts":{"decisions":[9,9,1,"d5227680983c4433ba4bf7a307bc9d277da831f861174fbc5c7ff6ef876b858d"]},"round":"screening","verb":"keep","version":2}','6143a725d98f005830adf0c899d96395ab0ff6d508ca6fdfc55a0d84308b4705','0261d0e2f518ca2cb37c8b3418afccb461444f402a28630fa4631bf9059da38f');
INSERT INTO "log" VALUES(24,'2026-11-22T12:03:00.000+00:00','RE','decided','item 2','{"facts":{"decisions":[10,10,1,"15db6004147e8c481212cdd824d5b21f2b5c5c5c305e531d162f1a4cc11c54ee"]},"round":"revision","verb":"submit","version":2}','0261d0e2f518ca2cb37c8b3418afccb461444f402a28630fa4631bf9059da38f','5435b33c29d35e48abcf5c5ebc25c6a16e8f4c61cac7917093f206fb4ddc8dd4');
INSERT INTO "log" VALUES(25,'2026-11-22T12:03:00.000+00:00','AU','decided','item 2','{"facts":{"decisions":[11,11,1,"a8890b0693865a45d60e414c2f9acb56a984051449fc82f7a49feef49fd869b4"]},"round":"audit","verb":"return","version":2}','5435b33c29d35e48abcf5c5ebc25c6a16e8f4c61cac7917093f206fb4ddc8dd4','53a41a4f50df23820d9ed96c4400095984714216b27fae9d6c14c03d5d6d3b69');
INSERT INTO "log" VALUES(26,'2026-11-22T12:03:00.000+00:00','RE','version saved','item 2','{"facts":{"versions":[10,10,1,"5cb6378e2290d46e95e408cacc2bcd32b6fb2ee4fc4da5cd6f6639072688db20"]},"number":2}','53a41a4f50df23820d9ed96c4400095984714216b27fae9d6c14c03d5d6d3b69','2749af635fc739530f8915e5145e85cc95f7e72d478eb279403f0a4126c8d8b5');
INSERT INTO "log" VALUES(27,'2026-11-22T12:03:00.000+00:00','RE','decided','item 7','{"facts":{"decisions":[12,12,1,"97bcc1982926283510bd6b061f1d4979aae8289040caca29aea91a710c79adf9"]},"round":"screening","verb":"keep","version":7}','2749af635fc739530f8915e5145e85cc95f7e72d478eb279403f0a4126c8d8b5','13e39dc33657531933b4316c7d9a82cf700886f023f8444185031efcdd0e0c42');
INSERT INTO "log" VALUES(28,'2026-11-22T12:03:00.000+00:00','RE','decided','item 7','{"facts":{"decisions":[13,13,1,"9d1de1298a2e63026e554e8025771a6a4cbb2524f263da19f4769ae7f96617fc"]},"round":"revision","verb":"submit","version":7}','13e39dc33657531933b4316c7d9a82cf700886f023f8444185031efcdd0e0c42','167d7f723b21241983513e46c3c54a424ef8d84f6a461bb349bbadb66cd83b35');
INSERT INTO "log" VALUES(29,'2026-11-22T12:03:00.000+00:00','AU','decided','item 7','{"facts":{"decisions":[14,14,1,"895af6708aea3746371a8cbc7a82040588a9d534fc196d5b7fae74e2ea75a803"]},"round":"audit","verb":"pass","version":7}','167d7f723b21241983513e46c3c54a424ef8d84f6a461bb349bbadb66cd83b35','94ba6376682829863ff60d14001fbcf374ffdc13d70d4cf590c75466e3b07009');
INSERT INTO "log" VALUES(30,'2026-11-22T12:03:00.000+00:00','RE','decided','item 9','{"facts":{"decisions":[15,15,1,"8c0448191a2c0c0526126e4ad691b862388320bed5758543b7f6648847835d59"]},"reason":"bad_data","round":"screening","verb":"reject","version":9}','94ba6376682829863ff60d14001fbcf374ffdc13d70d4cf590c75466e3b07009','1b401e7dee14ee85383e815ecbfd5d5e88aea7b73a5b3bbeb991f5cebfd53f81');
INSERT INTO "log" VALUES(31,'2026-11-22T13:03:00.000+00:00','ZO','signed in','ZO','{"origin":"10.0.0.1"}','1b401e7dee14ee85383e815ecbfd5d5e88aea7b73a5b3bbeb991f5cebfd53f81','86fcfec001615c878c75dfaebbba7522bfd658cd799fef13558042748106ff55');
INSERT INTO "log" VALUES(32,'2026-11-22T13:03:00.000+00:00','ZO','signed out','ZO','{}','86fcfec001615c878c75dfaebbba7522bfd658cd799fef13558042748106ff55','ea4c06ec7ed0850875bcb99b09b7e8ae5da2877ea13b1687646e42ec48e1d73e');
INSERT INTO "log" VALUES(33,'2026-11-22T13:03:00.000+00:00','ZO','signed in','ZO','{"origin":"10.0.0.2"}','ea4c06ec7ed0850875bcb99b09b7e8ae5da2877ea13b1687646e42ec48e1d73e','48687172bf2cc2f4b424144052a5b21fc3054092cf168eade562dc214a5a8f4b');
INSERT INTO "log" VALUES(34,'2026-11-22T13:03:00.000+00:00',NULL,'sign-in refused','ZO','{"origin":"10.0.0.3"}','48687172bf2cc2f4b424144052a5b21fc3054092cf168eade562dc214a5a8f4b','a4c6590b325470c0927170938e47752db48e414995b51230153f3e58c4ea09c1');
INSERT INTO "log" VALUES(35,'2026-11-22T13:03:00.000+00:00','RE','inspected','item 8','{"facts":{"inspections":[1,1,1,"429ef23c946a728fbc3092899f5928ed4df41b2c2e1a4e24eedc32aab51944ea"]},"number":1}','a4c6590b325470c0927170938e47752db48e414995b51230153f3e58c4ea09c1','fcdc67f6e08355d2bf371ccdb89d7cca58f0203373ad6a46fe26c19bf6d770a2');
INSERT INTO "log" VALUES(36,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 1','{"assignments":12,"facts":{"blind_assignments":[1,1,12,"4b4656a28883c03554fd9f11234f081fbb536956c7971cadb34dcfd30a7b3a31"],"blind_sessions":[1,1,1,"7a477432ddd05d0cfcfe495c86a7e281b88882e460ed7c15d82dd8c96aa9c241"]},"scorers":["RE","AU"]}','fcdc67f6e08355d2bf371ccdb89d7cca58f0203373ad6a46fe26c19bf6d770a2','98e51e25d3b59308299b93706ae5f031356c8db30f471485e6e072804aff056e');
INSERT INTO "log" VALUES(37,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 2','{"assignments":12,"facts":{"blind_assignments":[2,2,12,"7fa8c57f9178d224d5725faa2a42f829e460b25d16db9cc175c0bf296ff7aba4"],"blind_sessions":[2,2,1,"821940628c7990624ae0817002e743d5285c195b767088ec164d968a13c5f1ee"]},"scorers":["RE","AU"]}','98e51e25d3b59308299b93706ae5f031356c8db30f471485e6e072804aff056e','01e5c590d7b4f82de03e2d1eddcce9f7c4a3b7be1773708f34e622c3af86c997');
INSERT INTO "log" VALUES(38,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 3','{"assignments":12,"facts":{"blind_assignments":[3,3,12,"6af48a415e6a2eb770da4efeec8c169d99861955abb6097cfd459966d40cc76a"],"blind_sessions":[3,3,1,"c9416cf0fd2b55d5d4323fb3cdaad8ddc433290c002524e36041647f210df27c"]},"scorers":["RE","AU"]}','01e5c590d7b4f82de03e2d1eddcce9f7c4a3b7be1773708f34e622c3af86c997','7eb7e891e744a764c404ade6a05f8211a237100810c1bc4e68861284732d681f');
INSERT INTO "log" VALUES(39,'2026-11-22T13:03:00.000+00:00','CO','blind session opened','session 1','{"analysis_plan_sha256":"3657bdf70878d5189211bd976aaa6dc94a3a5dfdb354813fe2488d46661ece23","facts":{"blind_states":[1,1,1,"ddbdcc4188ea108ee3a080cd76e0e26b4e08f40e18944946cda8fbe5c05cef02"]}}','7eb7e891e744a764c404ade6a05f8211a237100810c1bc4e68861284732d681f','ba8df01eb21c9433093c71546eda0665efd7fd56c9b25f568695f2f8b11b8b8e');
INSERT INTO "log" VALUES(40,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[1,1,1,"a6f392ca9427d6e72b5993fbec5321b943d54198dd5c691fb814459cca2b7d7b"]},"place":1}','ba8df01eb21c9433093c71546eda0665efd7fd56c9b25f568695f2f8b11b8b8e','7b558903c979be01478152fd1964f5354ed1287bab3b056e88ef4af9e369b1da');
INSERT INTO "log" VALUES(41,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[2,2,1,"7b802a8d6b809490a3d00b1be32725d94080318f957ce5dc156193dc6965be8f"]},"place":2}','7b558903c979be01478152fd1964f5354ed1287bab3b056e88ef4af9e369b1da','345bf468317f8d82b146a80495631757a5fc0a3f6c1984376cbf12fbdfdd53b3');
INSERT INTO "log" VALUES(42,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[3,3,1,"7b74390e1ebd7eaae00ccdd0f14890e47569dc0419603734d3da59ba8dd6567a"]},"place":3}','345bf468317f8d82b146a80495631757a5fc0a3f6c1984376cbf12fbdfdd53b3','7e860cbf18f9febce0da634ee4eef993f8f952b2a918220e1587e93399153ecb');
INSERT INTO "log" VALUES(43,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[4,4,1,"be14a8c349e0fcba785ca46fa1169730c98b47be417fccbea630f6b4cc83b925"]},"place":4}','7e860cbf18f9febce0da634ee4eef993f8f952b2a918220e1587e93399153ecb','b323f28f451325f347bee2bfca03de03ccf211f28f1425d35749842484a69e7b');
INSERT INTO "log" VALUES(44,'2026-11-22T13:03:00.000+00:00','RE','preferred blind','session 1','{"facts":{"blind_preferences":[1,1,1,"dae1f34111280a47a9e270334258bea53e4a6d6073c6c3fab13870df9246f674"]},"place":5}','b323f28f451325f347bee2bfca03de03ccf211f28f1425d35749842484a69e7b','f710ff487450681e1aa931bd39bcf5834e472d25c8199b8521ccdbf2cd96dd25');
INSERT INTO "log" VALUES(45,'2026-11-22T13:03:00.000+00:00','RE','preferred blind','session 1','{"facts":{"blind_preferences":[2,2,1,"4764fe5fdbe0cd6541f0a6fd90a2c4f438139301a1c1237ef53621a126e0e8fc"]},"place":6}','f710ff487450681e1aa931bd39bcf5834e472d25c8199b8521ccdbf2cd96dd25','b47aaa617fa21724406782d6bdc8a368b41e122c48b4da4b9d118a4b113989fe');
INSERT INTO "log" VALUES(46,'2026-11-22T13:23:00.000+00:00','CO','blind session opened','session 2','{"analysis_plan_sha256":"3657bdf70878d5189211bd976aaa6dc94a3a5dfdb354813fe2488d46661ece23","facts":{"blind_states":[2,2,1,"09d19c5121c94862ecb7d8d1d3c40660da0332f1d2c2ccb1fc276fa709c125a1"]}}','b47aaa617fa21724406782d6bdc8a368b41e122c48b4da4b9d118a4b113989fe','085aa694f03253dceb4af59fddd8d2f44b27f61def1f65b41c1db99d9b5049d2');
INSERT INTO "log" VALUES(47,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[5,5,1,"ad6d8b553c61d01b39c0c946b086bc6cd869ecf495516c4a34471a0ee34a6477"]},"place":1}','085aa694f03253dceb4af59fddd8d2f44b27f61def1f65b41c1db99d9b5049d2','07389c76715c253396ab30688017f781fa40eae9e9cf7f658309bb11fbed5237');
INSERT INTO "log" VALUES(48,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[6,6,1,"09fa1ebe497d5c00c72e8d2fa4cd934004daa229350a981f02f21401ac1f28c7"]},"place":2}','07389c76715c253396ab30688017f781fa40eae9e9cf7f658309bb11fbed5237','80cef2841e5dad63a2e2421eaa78e7bceb73781d4605b5bdf22b47d4c3186bf5');
INSERT INTO "log" VALUES(49,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[7,7,1,"b54386d372697152ff5ba39268032388e525f22d1e4aada96a71a95a57d70706"]},"place":3}','80cef2841e5dad63a2e2421eaa78e7bceb73781d4605b5bdf22b47d4c3186bf5','bff0d950bd2e74025bd1dfc8b128d641972ba7f2e5eabd777752b90b9b7726d6');
INSERT INTO "log" VALUES(50,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[8,8,1,"9e0afc4642fd0c92c16bc5972644cce1961fa29a9f798ba9a9adbf9140809bac"]},"place":4}','bff0d950bd2e74025bd1dfc8b128d641972ba7f2e5eabd777752b90b9b7726d6','b60521e5478d6b0024e81e7d159695720838814ce781dd68b398b4d43baf1bb4');
INSERT INTO "log" VALUES(51,'2026-11-22T13:23:00.000+00:00','RE','preferred blind','session 2','{"facts":{"blind_preferences":[3,3,1,"1465c37640f64fb653a34c8873c1b61652563e8ede0e477fb31e9d18ca91cf1b"]},"place":5}','b60521e5478d6b0024e81e7d159695720838814ce781dd68b398b4d43baf1bb4','0723ecaccb6e22c8eaffcce41b2ec6f7082f37564c01371a5397cf49f0fba6ab');
INSERT INTO "log" VALUES(52,'2026-11-22T13:23:00.000+00:00','RE','preferred blind','session 2','{"facts":{"blind_preferences":[4,4,1,"43916c6754293149354742a1a1b60635ff85f12c31f2bd15b21f9615a4fab65d"]},"place":6}','0723ecaccb6e22c8eaffcce41b2ec6f7082f37564c01371a5397cf49f0fba6ab','010546e4634a78288c494bc8383832778eb003cf01e93203114b4e04db085cad');
INSERT INTO "log" VALUES(53,'2026-11-22T13:43:00.000+00:00','CO','judged blind','session 1','{"facts":{"blind_judgements":[1,1,1,"c4051dfbee76dd38b2f7b25dfa1cee09b8043ee967b3bc9bd7616eeb2246ecea"]},"judge":"judge-70b"}','010546e4634a78288c494bc8383832778eb003cf01e93203114b4e04db085cad','9d7ba6e3e27f7b88f97744fc6df4fbaa553a29da8d7d7283606dc551db9f62be');
INSERT INTO "log" VALUES(54,'2026-11-22T13:43:00.000+00:00','CO','blind session closed','session 1','{"facts":{"blind_states":[3,3,1,"9076ccb6b22ae531cbe8ada347b53d11f3c32bee441dc831a6f09125f5aaf09f"]}}','9d7ba6e3e27f7b88f97744fc6df4fbaa553a29da8d7d7283606dc551db9f62be','e6342806b59dba8f0b5cb1097cb21613874905d0e5e08f6a37c1285344304530');
INSERT INTO "log" VALUES(55,'2026-11-22T13:43:00.000+00:00','CO','scores recorded','cv','{"count":2,"model":"32906bd71bb52bb08592c97d1c3ef2bcd84017d9aa4c848a77e372d9624ee676"}','e6342806b59dba8f0b5cb1097cb21613874905d0e5e08f6a37c1285344304530','68e239d6046f4cdf11b858cc8c0c8cc4a1a52b1276dd3ff4ce242fbcff883de7');
INSERT INTO "log" VALUES(56,'2026-11-22T13:43:00.000+00:00','CO','shown','item 5','{"facts":{"showings":[1,1,1,"a9a655a58f39a2f0d2efc3d741237878828ff51f0afcf5438ae9c3ad49d45fa4"]}}','68e239d6046f4cdf11b858cc8c0c8cc4a1a52b1276dd3ff4ce242fbcff883de7','9103fe2ab399f086e0f679a7be8ec5954ed8a84ba012477200faba2e08164603');
INSERT INTO "log" VALUES(57,'2026-11-22T13:43:00.000+00:00','CO','trials recorded','trials','{"count":1,"facts":{"trials":[1,1,1,"8c9a093a30da0382117464dc4fcbc52651535e9aa1c18d6f80516c22738089e8"]}}','9103fe2ab399f086e0f679a7be8ec5954ed8a84ba012477200faba2e08164603','4ab715f6516249d629a99dcadc2b52d034a345bab83db7385e041f3fb9acc14f');
INSERT INTO "log" VALUES(58,'2026-11-22T13:43:00.000+00:00','CO','trials recorded','trials','{"count":1,"facts":{"trials":[2,2,1,"1c53005a01bb53ee59dda99f81d84c3ee17eb7ea06bf092f2999f8e69ddda28f"]}}','4ab715f6516249d629a99dcadc2b52d034a345bab83db7385e041f3fb9acc14f','27c5d5225fbd37aa9674e80d54ed27858880b5327034d86e6aa123eedce2b158');
INSERT INTO "log" VALUES(59,'2026-11-22T13:43:00.000+00:00','CO','trials recorded','trials','{"count":1,"facts":{"trials":[3,3,1,"d75784dd9557c803e7b40669c722197bf9e4738fc30323e40966b09b580a9819"]}}','27c5d5225fbd37aa9674e80d54ed27858880b5327034d86e6aa123eedce2b158','31f1b130568dfbdf709651341186fe966b999bec17832e956ab6c4e9afab86ed');
INSERT INTO "log" VALUES(60,'2026-11-22T13:43:00.000+00:00','CO','deactivated','JU','{"leases ended":0,"people":{"JU":"71fa373889d85396376de35e21d76b0837b7d2a186a1728601858749d2dd90c5"},"sessions ended":0}','31f1b130568dfbdf709651341186fe966b999bec17832e956ab6c4e9afab86ed','a08b8027dffd794b795031be63bcb58e868e7e77825e1b30aaa0ae006bc2d586');
CREATE TABLE marks (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    step TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (initials),
    mark TEXT NOT NULL,
    note TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "marks" VALUES(1,'461345f871934ef4ab6b0f4a15a56cfe',1,1,'s3','VO','hallucinated feature','=cmd|''x''!A1 and “quotes”','2026-11-22T12:00:00.000+00:00');
CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL);
INSERT INTO "migrations" VALUES(1,'first schema','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(2,'blind sessions','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(3,'audit log','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(4,'work times','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(5,'inspections','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(6,'trust','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(7,'imports and figures','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(8,'index of authors','2026-11-21T12:00:00.000+00:00');
CREATE TABLE people (
    initials TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    roles TEXT NOT NULL CHECK (json_valid(roles)),
    password TEXT,
    active INTEGER NOT NULL DEFAULT 1,
    added_at TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "people" VALUES('AU','Dr AU','["auditor"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('AX','Dr AX','["auditor"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('CO','Dr CO','["coordinator"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('JU','Dr JU','["auditor"]',NULL,0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('RE','Dr RE','["reviewer"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('VO','Dr VO','["reviewer"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('ZO','Zoë Ångström','["auditor", "reviewer"]','scrypt$15$8$3$2a273ced47ce81988d8bb9c71981a5a9$a7ec0162eaf6f0f1f7ab671aef85739c20625d0019646a207fc601dcd2d398c4',1,'2026-11-21T12:00:00.000+00:00');
CREATE TABLE pictures (sha256 TEXT PRIMARY KEY, png BLOB NOT NULL);
INSERT INTO "pictures" VALUES('72f029cb07a1704fd328e4dc99fd2609374fb8e520f9021f8d3bcc7d761a0296',X'89504E470D0A1A0A0000000D49484452000000030000000208020000001216F14D0000001549444154789C63646068606060606060606280010008BC00847A9A81500000000049454E44AE426082');
CREATE TABLE score_models (
    sha256 TEXT NOT NULL,
    task TEXT NOT NULL,
    at TEXT NOT NULL,
    model TEXT NOT NULL CHECK (json_valid(model)),
    PRIMARY KEY (sha256, task)
) WITHOUT ROWID;
INSERT INTO "score_models" VALUES('32906bd71bb52bb08592c97d1c3ef2bcd84017d9aa4c848a77e372d9624ee676','cv','2026-11-22T13:43:00.000+00:00','{"bias":0.1,"kind":"raw"}');
CREATE TABLE scores (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    p_yes REAL NOT NULL CHECK (p_yes BETWEEN 0 AND 1),
    -- Why no certificate covers the item; without reasons it can be ordered by value of information.
    reasons TEXT NOT NULL CHECK (json_valid(reasons)),
    features TEXT NOT NULL CHECK (json_valid(features)),
    model TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "scores" VALUES(5,3.33333333333333314829e-01,'[]','{"vote": -2.2}','32906bd71bb52bb08592c97d1c3ef2bcd84017d9aa4c848a77e372d9624ee676','2026-11-22T13:43:00.000+00:00');
INSERT INTO "scores" VALUES(6,0.75,'["S/N 2, expected 3 or more"]','{"vote": null}','32906bd71bb52bb08592c97d1c3ef2bcd84017d9aa4c848a77e372d9624ee676','2026-11-22T13:43:00.000+00:00');
CREATE TABLE sessions (
    token_hash TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES people (initials),
    started_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended_at TEXT
) WITHOUT ROWID;
INSERT INTO "sessions" VALUES('2d292d4b87a7d07ce73cd798f626e689d5ec60b9c90ae7ed1b873c74fdf22542','ZO','2026-11-22T13:03:00.000+00:00','2026-11-23T13:03:00.000+00:00','2026-11-22T13:03:00.000+00:00');
INSERT INTO "sessions" VALUES('bd8d00bdfe0de8ab918ae496f5ea11d7e4ed6c419c8c0ddcdaa6e5ccd436002d','ZO','2026-11-22T13:03:00.000+00:00','2026-11-23T13:03:00.000+00:00',NULL);
CREATE TABLE settings (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    value TEXT NOT NULL CHECK (json_valid(value)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "settings" VALUES(1,'rules','{"approve_at": 2, "auditors": 2, "reject_at": 2, "solo": false, "votes": 2}',NULL,'2026-11-25T21:46:02.760+00:00');
INSERT INTO "settings" VALUES(2,'rules','{"approve_at": 2, "auditors": 2, "reject_at": 2, "solo": false, "votes": 3}','CO','2026-11-21T12:00:00.000+00:00');
INSERT INTO "settings" VALUES(3,'campaign','{"name": "November", "classes": ["cv"]}','CO','2026-11-21T12:00:00.000+00:00');
CREATE TABLE showings (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    arm TEXT NOT NULL CHECK (arm IN ('random', 'value')),
    probability REAL NOT NULL CHECK (probability > 0 AND probability <= 1),
    plan TEXT NOT NULL CHECK (json_valid(plan)),
    at TEXT NOT NULL
);
INSERT INTO "showings" VALUES(1,'a showing''s key',5,'CO','value',1.0,'{"strata": [[0.0, 0.41666666666666663, 1, 1.0], [0.41666666666666663, 1.0, 0, 0.0]], "random_share": 0.2, "filter": {"task": "cv"}, "open": null}','2026-11-22T13:43:00.000+00:00');
CREATE TABLE sign_ins (
    id INTEGER PRIMARY KEY,
    initials TEXT NOT NULL,
    origin TEXT NOT NULL,
    ok INTEGER NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "sign_ins" VALUES(1,'ZO','10.0.0.1',1,'2026-11-22T13:03:00.000+00:00');
INSERT INTO "sign_ins" VALUES(2,'ZO','10.0.0.2',1,'2026-11-22T13:03:00.000+00:00');
INSERT INTO "sign_ins" VALUES(3,'ZO','10.0.0.3',0,'2026-11-22T13:03:00.000+00:00');
CREATE TABLE spectra (
    sha256 TEXT PRIMARY KEY,
    grid TEXT NOT NULL REFERENCES grids (sha256),
    name TEXT NOT NULL,
    survey TEXT NOT NULL,
    medium TEXT NOT NULL CHECK (medium IN ('vacuum', 'air')),
    frame TEXT NOT NULL CHECK (frame IN ('observed', 'rest')),
    flux_unit TEXT NOT NULL,
    redshift REAL,
    ra REAL,
    dec REAL,
    catalogue_class TEXT NOT NULL,
    errors TEXT NOT NULL,
    details TEXT NOT NULL CHECK (json_valid(details)),
    flux_type TEXT NOT NULL CHECK (flux_type IN ('<f4', '<f8')),
    flux BLOB NOT NULL,
    ivar_type TEXT NOT NULL CHECK (ivar_type IN ('<f4', '<f8')),
    ivar BLOB NOT NULL,
    mask BLOB NOT NULL,
    added_at TEXT NOT NULL
);
INSERT INTO "spectra" VALUES('034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0000.fits','LAMOST','vacuum','observed','relative',0.0,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0001.fits','LAMOST','vacuum','observed','relative',0.01,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0002.fits','LAMOST','vacuum','observed','relative',0.02,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0003.fits','LAMOST','vacuum','observed','relative',0.03,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
CREATE TABLE standing_figures (
    day TEXT, state TEXT, task TEXT, batch TEXT, compared INTEGER, disagreement INTEGER, items INTEGER NOT NULL,
    PRIMARY KEY (day, state, task, batch, compared, disagreement)
) WITHOUT ROWID;
INSERT INTO "standing_figures" VALUES('','audit','cv','november',0,0,1);
INSERT INTO "standing_figures" VALUES('','returned','cv','november',0,0,1);
INSERT INTO "standing_figures" VALUES('','revision','cv','november',0,0,0);
INSERT INTO "standing_figures" VALUES('','screening','cv','',0,0,0);
INSERT INTO "standing_figures" VALUES('','screening','cv','november',0,0,5);
INSERT INTO "standing_figures" VALUES('','vote','cv','november',1,0,0);
INSERT INTO "standing_figures" VALUES('2026-11-22','approved','cv','november',1,0,1);
INSERT INTO "standing_figures" VALUES('2026-11-22','rejected','cv','',0,0,1);
CREATE TABLE standings (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    state TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    number INTEGER NOT NULL,
    "cast" INTEGER NOT NULL,
    compared INTEGER NOT NULL,
    disagreement INTEGER NOT NULL,
    decided_at TEXT,
    task TEXT NOT NULL,
    survey TEXT NOT NULL,
    snr REAL,
    drafter TEXT NOT NULL,
    batch TEXT NOT NULL,
    simulated INTEGER NOT NULL
);
INSERT INTO "standings" VALUES(1,'approved',1,1,0,1,0,'2026-11-22T12:03:00.000+00:00','cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(2,'returned',10,2,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(3,'screening',3,1,0,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(4,'screening',4,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(5,'screening',5,1,0,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(6,'screening',6,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(7,'audit',7,1,1,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(8,'screening',8,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(9,'rejected',9,1,0,0,0,'2026-11-22T12:03:00.000+00:00','cv','',NULL,'rule 1','',0);
CREATE TABLE tallies (
    state TEXT, task TEXT, survey TEXT, drafter TEXT, batch TEXT, disagreement INTEGER, simulated INTEGER,
    items INTEGER NOT NULL CHECK (items >= 0),
    PRIMARY KEY (state, task, survey, drafter, batch, disagreement, simulated)
) WITHOUT ROWID;
INSERT INTO "tallies" VALUES('approved','cv','LAMOST','gpt-5','november',0,0,1);
INSERT INTO "tallies" VALUES('audit','cv','LAMOST','Spec-o3-7B','november',0,0,0);
INSERT INTO "tallies" VALUES('audit','cv','LAMOST','gpt-5','november',0,0,1);
INSERT INTO "tallies" VALUES('rejected','cv','','rule 1','',0,0,1);
INSERT INTO "tallies" VALUES('returned','cv','LAMOST','Spec-o3-7B','november',0,0,1);
INSERT INTO "tallies" VALUES('revision','cv','LAMOST','Spec-o3-7B','november',0,0,0);
INSERT INTO "tallies" VALUES('revision','cv','LAMOST','gpt-5','november',0,0,0);
INSERT INTO "tallies" VALUES('screening','cv','','rule 1','',0,0,0);
INSERT INTO "tallies" VALUES('screening','cv','LAMOST','Spec-o3-7B','november',0,0,3);
INSERT INTO "tallies" VALUES('screening','cv','LAMOST','gpt-5','november',0,0,2);
INSERT INTO "tallies" VALUES('vote','cv','LAMOST','gpt-5','november',0,0,0);
CREATE TABLE time_figures (
    person TEXT, round TEXT, active REAL, task TEXT, batch TEXT, decisions INTEGER NOT NULL,
    PRIMARY KEY (person, round, active, task, batch)
) WITHOUT ROWID;
INSERT INTO "time_figures" VALUES('VO','vote',43.0,'cv','november',1);
CREATE TABLE trials (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    passed INTEGER CHECK (passed IN (0, 1)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL,
    result TEXT NOT NULL CHECK (json_valid(result))
);
INSERT INTO "trials" VALUES(1,'c78443879556bb6d2d3e601b6049e98340583cad22345ab13f8d9f0ee838c524',5,5,1,'CO','2026-11-22T13:43:00.000+00:00','{"text_after":"Hα “remains”. "}');
INSERT INTO "trials" VALUES(2,'853c5bfa20c4fef30382db968802cea9e55b9950f2168af77fe59b9209cf1e2a',6,6,0,'CO','2026-11-22T13:43:00.000+00:00','{"text_after":"Hα “remains”. "}');
INSERT INTO "trials" VALUES(3,'f00c52999bb85ebab21d99c4bd254aa817fedd8f4e02b81b95f99ecf296e30eb',8,8,NULL,'CO','2026-11-22T13:43:00.000+00:00','{"text_after":"Hα “remains”. "}');
CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    person TEXT NOT NULL REFERENCES people (initials),
    verdict TEXT NOT NULL CHECK (verdict IN ('YES', 'NO', 'cannot tell')),
    at TEXT NOT NULL,
    UNIQUE (item, person, version)
);
INSERT INTO "verdicts" VALUES(1,1,1,'VO','cannot tell','2026-11-22T12:00:00.000+00:00');
CREATE TABLE version_figures (
    author TEXT, task TEXT, batch TEXT, versions INTEGER NOT NULL, PRIMARY KEY (author, task, batch)
) WITHOUT ROWID;
INSERT INTO "version_figures" VALUES('RE','cv','november',1);
CREATE TABLE versions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    number INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    parent INTEGER REFERENCES versions (id),
    author TEXT REFERENCES people (initials),
    reason TEXT NOT NULL,
    at TEXT NOT NULL,
    -- Last, because SQLite reads through a long column to get at those behind it.
    body TEXT NOT NULL CHECK (json_valid(body)),
    UNIQUE (item, number)
);
INSERT INTO "versions" VALUES(1,'draft:sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0',1,1,'sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(2,'draft:sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6',2,1,'sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(3,'draft:sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933',3,1,'sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0001.fits","sha256":"65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(4,'draft:sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03',4,1,'sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0001.fits","sha256":"65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(5,'draft:sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d',5,1,'sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0002.fits","sha256":"179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(6,'draft:sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7',6,1,'sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0002.fits","sha256":"179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(7,'draft:sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787',7,1,'sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0003.fits","sha256":"0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(8,'draft:sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e',8,1,'sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0003.fits","sha256":"0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(9,'draft:sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',9,1,'sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"gone.fits","sha256":null},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"baseline","name":"rule 1","settings":{}},"label":null,"label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Only its picture is left."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(10,'b863675ec4a74a42b4bff1d85b5b6548',2,2,'sha256:91eb91d9d58a9c8383582a025b85dd13c8cef2b6fdb6681963adcaa162415f4f',2,'RE','clearer','2026-11-22T12:03:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Hα is narrow; the second look says so."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
CREATE TABLE work_times (
    id INTEGER PRIMARY KEY,
    decision INTEGER NOT NULL UNIQUE REFERENCES decisions (id),
    opened_at TEXT NOT NULL,
    -- Seconds from opening the item to the decision, and how many of them the person was active.
    elapsed REAL NOT NULL CHECK (elapsed >= 0),
    active REAL NOT NULL CHECK (active BETWEEN 0 AND elapsed)
);
INSERT INTO "work_times" VALUES(1,7,'2026-11-22T12:00:00.000+00:00',180.0,42.5);
CREATE INDEX settings_by_name ON settings (name, id);
CREATE INDEX sign_ins_by_initials ON sign_ins (initials, origin, at);
CREATE INDEX items_by_spectrum ON items (spectrum);
CREATE INDEX versions_by_author ON versions (author, item) WHERE author IS NOT NULL;
CREATE INDEX decisions_by_item ON decisions (item, id);
CREATE INDEX marks_by_item ON marks (item, id);
CREATE UNIQUE INDEX leases_running ON leases (item, person) WHERE ended IS NULL;
CREATE INDEX standings_walk
    ON standings (state, item, task, survey, snr, drafter, batch, disagreement, simulated);
CREATE INDEX standings_snr
    ON standings (snr, state, task, survey, drafter, batch, disagreement, simulated);
CREATE INDEX barred_by_item ON barred (item);
CREATE TRIGGER standings_insert AFTER insert ON standings BEGIN INSERT INTO tallies VALUES (new.state, new.task, new.survey, new.drafter, new.batch, new.disagreement, new.simulated, 1) ON CONFLICT DO UPDATE SET items = items + 1; END;
CREATE TRIGGER standings_delete AFTER delete ON standings BEGIN UPDATE tallies SET items = items - 1 WHERE state = old.state AND task = old.task AND survey = old.survey AND drafter = old.drafter AND batch = old.batch AND disagreement = old.disagreement AND simulated = old.simulated; END;
CREATE TRIGGER standings_update AFTER update OF state, task, survey, drafter, batch, disagreement, simulated ON standings BEGIN UPDATE tallies SET items = items - 1 WHERE state = old.state AND task = old.task AND survey = old.survey AND drafter = old.drafter AND batch = old.batch AND disagreement = old.disagreement AND simulated = old.simulated;INSERT INTO tallies VALUES (new.state, new.task, new.survey, new.drafter, new.batch, new.disagreement, new.simulated, 1) ON CONFLICT DO UPDATE SET items = items + 1; END;
CREATE TRIGGER versions_no_update BEFORE update ON versions BEGIN SELECT RAISE(ABORT, 'versions are facts: append, never update'); END;
CREATE TRIGGER versions_no_delete BEFORE delete ON versions BEGIN SELECT RAISE(ABORT, 'versions are facts: append, never delete'); END;
CREATE TRIGGER decisions_no_update BEFORE update ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are facts: append, never update'); END;
CREATE TRIGGER decisions_no_delete BEFORE delete ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are facts: append, never delete'); END;
CREATE TRIGGER marks_no_update BEFORE update ON marks BEGIN SELECT RAISE(ABORT, 'marks are facts: append, never update'); END;
CREATE TRIGGER marks_no_delete BEFORE delete ON marks BEGIN SELECT RAISE(ABORT, 'marks are facts: append, never delete'); END;
CREATE TRIGGER verdicts_no_update BEFORE update ON verdicts BEGIN SELECT RAISE(ABORT, 'verdicts are facts: append, never update'); END;
CREATE TRIGGER verdicts_no_delete BEFORE delete ON verdicts BEGIN SELECT RAISE(ABORT, 'verdicts are facts: append, never delete'); END;
CREATE TRIGGER settings_no_update BEFORE update ON settings BEGIN SELECT RAISE(ABORT, 'settings are facts: append, never update'); END;
CREATE TRIGGER settings_no_delete BEFORE delete ON settings BEGIN SELECT RAISE(ABORT, 'settings are facts: append, never delete'); END;
CREATE INDEX blind_scores_by_assignment ON blind_scores (assignment, id);
CREATE INDEX blind_preferences_by_assignment ON blind_preferences (assignment, id);
CREATE INDEX blind_judgements_by_session ON blind_judgements (session, judge);
CREATE TRIGGER blind_sessions_no_update BEFORE update ON blind_sessions BEGIN SELECT RAISE(ABORT, 'blind_sessions are facts: append, never update'); END;
CREATE TRIGGER blind_sessions_no_delete BEFORE delete ON blind_sessions BEGIN SELECT RAISE(ABORT, 'blind_sessions are facts: append, never delete'); END;
CREATE TRIGGER blind_assignments_no_update BEFORE update ON blind_assignments BEGIN SELECT RAISE(ABORT, 'blind_assignments are facts: append, never update'); END;
CREATE TRIGGER blind_assignments_no_delete BEFORE delete ON blind_assignments BEGIN SELECT RAISE(ABORT, 'blind_assignments are facts: append, never delete'); END;
CREATE TRIGGER blind_states_no_update BEFORE update ON blind_states BEGIN SELECT RAISE(ABORT, 'blind_states are facts: append, never update'); END;
CREATE TRIGGER blind_states_no_delete BEFORE delete ON blind_states BEGIN SELECT RAISE(ABORT, 'blind_states are facts: append, never delete'); END;
CREATE TRIGGER blind_scores_no_update BEFORE update ON blind_scores BEGIN SELECT RAISE(ABORT, 'blind_scores are facts: append, never update'); END;
CREATE TRIGGER blind_scores_no_delete BEFORE delete ON blind_scores BEGIN SELECT RAISE(ABORT, 'blind_scores are facts: append, never delete'); END;
CREATE TRIGGER blind_preferences_no_update BEFORE update ON blind_preferences BEGIN SELECT RAISE(ABORT, 'blind_preferences are facts: append, never update'); END;
CREATE TRIGGER blind_preferences_no_delete BEFORE delete ON blind_preferences BEGIN SELECT RAISE(ABORT, 'blind_preferences are facts: append, never delete'); END;
CREATE TRIGGER blind_judgements_no_update BEFORE update ON blind_judgements BEGIN SELECT RAISE(ABORT, 'blind_judgements are facts: append, never update'); END;
CREATE TRIGGER blind_judgements_no_delete BEFORE delete ON blind_judgements BEGIN SELECT RAISE(ABORT, 'blind_judgements are facts: append, never delete'); END;
CREATE TRIGGER log_no_update BEFORE update ON log BEGIN SELECT RAISE(ABORT, 'log are facts: append, never update'); END;
CREATE TRIGGER log_no_delete BEFORE delete ON log BEGIN SELECT RAISE(ABORT, 'log are facts: append, never delete'); END;
CREATE TRIGGER exports_no_update BEFORE update ON exports BEGIN SELECT RAISE(ABORT, 'exports are facts: append, never update'); END;
CREATE TRIGGER exports_no_delete BEFORE delete ON exports BEGIN SELECT RAISE(ABORT, 'exports are facts: append, never delete'); END;
CREATE TRIGGER work_times_no_update BEFORE update ON work_times BEGIN SELECT RAISE(ABORT, 'work_times are facts: append, never update'); END;
CREATE TRIGGER work_times_no_delete BEFORE delete ON work_times BEGIN SELECT RAISE(ABORT, 'work_times are facts: append, never delete'); END;
CREATE INDEX inspections_by_item ON inspections (item, person, id);
CREATE TRIGGER inspections_no_update BEFORE update ON inspections BEGIN SELECT RAISE(ABORT, 'inspections are facts: append, never update'); END;
CREATE TRIGGER inspections_no_delete BEFORE delete ON inspections BEGIN SELECT RAISE(ABORT, 'inspections are facts: append, never delete'); END;
CREATE INDEX scores_in_order ON scores (item, p_yes) WHERE reasons = '[]';
CREATE INDEX showings_by_item ON showings (item, id, at);
CREATE INDEX trials_by_item ON trials (item, id, passed);
CREATE TRIGGER showings_no_update BEFORE update ON showings BEGIN SELECT RAISE(ABORT, 'showings are facts: append, never update'); END;
CREATE TRIGGER showings_no_delete BEFORE delete ON showings BEGIN SELECT RAISE(ABORT, 'showings are facts: append, never delete'); END;
CREATE TRIGGER trials_no_update BEFORE update ON trials BEGIN SELECT RAISE(ABORT, 'trials are facts: append, never update'); END;
CREATE TRIGGER trials_no_delete BEFORE delete ON trials BEGIN SELECT RAISE(ABORT, 'trials are facts: append, never delete'); END;
CREATE INDEX items_by_name ON items (name);
CREATE TRIGGER decisions_counted AFTER INSERT ON decisions BEGIN 
    INSERT INTO decision_figures SELECT d.person, d.round, substr(d.at, 1, 10), i.task, i.batch, 1
    FROM decisions d JOIN items i ON i.id = d.item WHERE d.id = new.id AND d.verb NOT IN ('undo', 'withdraw', 'restore')
    ON CONFLICT DO UPDATE SET decisions = decisions + excluded.decisions; END;
CREATE TRIGGER decisions_uncounted AFTER INSERT ON decisions WHEN new.withdraws IS NOT NULL BEGIN 
    INSERT INTO decision_figures SELECT d.person, d.round, substr(d.at, 1, 10), i.task, i.batch, -1
    FROM decisions d JOIN items i ON i.id = d.item WHERE d.id = new.withdraws AND d.verb NOT IN ('undo', 'withdraw', 'restore')
    ON CONFLICT DO UPDATE SET decisions = decisions + excluded.decisions;
    INSERT INTO time_figures SELECT d.person, d.round, iif(w.active < 1000, round(w.active), 10 * round(w.active / 10)), i.task, i.batch, -1
    FROM work_times w JOIN decisions d ON d.id = w.decision JOIN items i ON i.id = d.item
    WHERE w.decision = new.withdraws AND d.verb NOT IN ('undo', 'withdraw', 'restore')
    ON CONFLICT DO UPDATE SET decisions = decisions + excluded.decisions; END;
CREATE TRIGGER times_counted AFTER INSERT ON work_times BEGIN 
    INSERT INTO time_figures SELECT d.person, d.round, iif(w.active < 1000, round(w.active), 10 * round(w.active / 10)), i.task, i.batch, 1
    FROM work_times w JOIN decisions d ON d.id = w.decision JOIN items i ON i.id = d.item
    WHERE w.decision = new.decision AND d.verb NOT IN ('undo', 'withdraw', 'restore')
    ON CONFLICT DO UPDATE SET decisions = decisions + excluded.decisions; END;
CREATE TRIGGER versions_counted AFTER INSERT ON versions WHEN new.author IS NOT NULL BEGIN INSERT INTO version_figures SELECT new.author, task, batch, 1 FROM items WHERE id = new.item ON CONFLICT DO UPDATE SET versions = versions + 1; END;
CREATE TRIGGER standings_come AFTER INSERT ON standings BEGIN INSERT INTO standing_figures VALUES (coalesce(substr(new.decided_at, 1, 10), ''), new.state, new.task, new.batch, new.compared, new.disagreement, 1) ON CONFLICT DO UPDATE SET items = items + 1; END;
CREATE TRIGGER standings_gone AFTER DELETE ON standings BEGIN UPDATE standing_figures SET items = items - 1 WHERE day = coalesce(substr(old.decided_at, 1, 10), '') AND state = old.state AND task = old.task AND batch = old.batch AND compared = old.compared AND disagreement = old.disagreement; END;
CREATE TRIGGER standings_moved AFTER UPDATE OF state, decided_at, compared, disagreement ON standings BEGIN UPDATE standing_figures SET items = items - 1 WHERE day = coalesce(substr(old.decided_at, 1, 10), '') AND state = old.state AND task = old.task AND batch = old.batch AND compared = old.compared AND disagreement = old.disagreement;INSERT INTO standing_figures VALUES (coalesce(substr(new.decided_at, 1, 10), ''), new.state, new.task, new.batch, new.compared, new.disagreement, 1) ON CONFLICT DO UPDATE SET items = items + 1; END;
CREATE INDEX versions_with_authors ON versions (item) WHERE number = 1 AND instr(body, '"authors":[') > 0;
PRAGMA writable_schema=OFF;
COMMIT;
PRAGMA application_id = 1399869235;
